"""Questions asked one after the other, until somebody at the keyboard has had enough: what was answered by then is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Answered = TypeVar("Answered")
Question = TypeVar("Question")


def answered(
    questions: Iterable[Question], answer: Callable[[Question], Answered], *, stopped: Callable[[Answered], bool]
) -> list[Answered]:
    """The answers up to an interrupt: fewer than the questions where one came.

    Parameters
    ----------
    questions
        What is asked, in this order.
    answer
        Who answers.
    stopped
        Whether an interrupt came while this answer was searched for, which then ended early; it is kept, as the last.

    Raises
    ------
    KeyboardInterrupt
        Where the interrupt left nothing to keep.
    """
    found: list[Answered] = []
    try:
        for question in questions:
            found.append(answer(question))
            if stopped(found[-1]):
                break
    except KeyboardInterrupt:
        if not found:
            raise
    return found
