"""`collect`: variants made, asked about, judged and priced; every answer is on the disk before the next call."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

from tippingpoint.api.prices import read_number, resolve_prices
from tippingpoint.core.divergences import divergence_named
from tippingpoint.errors import InputError, listed
from tippingpoint.runs.asking import Asker, Limits, pool
from tippingpoint.runs.campaign import Campaign
from tippingpoint.runs.judging import Judge
from tippingpoint.runs.ordering import Question
from tippingpoint.runs.outcomes import ORIGINAL, short
from tippingpoint.runs.planning import fingerprint, plan
from tippingpoint.runs.runs import Runs
from tippingpoint.runs.store import Store
from tippingpoint.variations.base import as_variations

LAMBDA = "<lambda>"
"""What Python calls a function without a name."""

ORDERS = ("influence", "plan")
FAILED = ("again", "keep")
QUESTION = ("risk", "theta1", "theta2", "mix", "budget", "divergence")
"""What a question may say."""


def collect(
    samples: Any,
    variations: Sequence[Any],
    *,
    ask: Callable[[Any], Any] | Mapping[str, Callable[[Any], Any]],
    judge: Callable[..., Any],
    cost: Any = None,
    name: str | None = None,
    store: str | os.PathLike[str] | None = None,
    prompt: Callable[[dict[str, Any]], Any] | None = None,
    draws: int = 1,
    repeats: int = 1,
    seed: int = 0,
    calls: int | None = None,
    batch: int | None = None,
    concurrency: int = 1,
    retries: int = 3,
    backoff: float = 1.0,
    timeout: float | None = None,
    rate: float | None = None,
    failed: str = "again",
    order: str = "influence",
    question: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> Runs:
    """A table of alternatives by asking: every sample as it is and in every variation, asked, judged and priced.

    Parameters
    ----------
    samples
        Texts, a dictionary of texts by name, or dictionaries (or a frame) with "text" or "image", perhaps "sample" (its
        name) and "options", and whatever the judge wants to see.
    variations
        What each sample could have been instead: of `tp.variations`, functions `f(text)` or `f(text, rng)`, sums and tuples
        of these.
    ask
        The model: a function from a prompt to its answer, plain or `async`; or several by name, `{"small": f, "large": g}`.
        With `batch` it is given a list of prompts and returns a list of answers. None is no answer. Coroutines run in an event
        loop of their own, in a thread of its own, so that a notebook's may be running.
    judge
        `judge(answer)` or `judge(answer, sample)`: the loss, from 0 (right) to 1 (wrong), or None where it cannot tell. The
        sample is the dictionary as it was asked about: options in the order in which they were shown. An answer on which it
        raises is a missing outcome, with the error; a judge that raises on every answer is refused.
    cost
        What a variant costs: "words" (the share of words edited, the default), "formats", one of `tp.costs`, prices by
        variation, as `{"typos": 1.0}`, or a function of the two texts. Of images it is the mean squared difference of pixels.
    name
        What the model is called, in the table and in the store; the name of the function by default. A store needs it for
        lambdas, partials, closures and objects, whose own names may be those of other models. Set it also if the function
        reads a setting from elsewhere, such as a global variable: a store does not see that change.
    store
        A file for the answers, one JSON line each, written as they come. A run with the same store goes on where the last
        one ended, whatever ended it. Samples, variations, models and repeats may be added; other texts under the names of
        old ones are refused, as is a file that is not a store.
    prompt
        What the model is given, from the sample; by default its text, with lettered options below.
    draws
        Variants that each variation makes of a sample.
    repeats
        How often each prompt is asked; without, identical prompts are asked once.
    seed
        What variations draw from: the same seed makes the same variants, in whatever order samples come.
    calls
        Prompts that are sent at most in this run, failed attempts among them; never more.
    batch, concurrency
        Prompts at once, where `ask` takes lists; calls at a time.
    retries, backoff
        Attempts after one that fails, and seconds before the first; each waits twice as long as the one before. A prompt
        that fails to the end is a missing outcome, with its error.
    timeout
        Seconds that a call may take; one that takes longer fails. A plain function cannot be stopped: its call is left behind
        in its thread, and what it returns later is not used.
    rate
        Prompts a second at most.
    failed
        Whether prompts that failed in an earlier run are asked "again", or "keep" their error.
    order
        "influence": originals first, then what is expected to lower the stability most, so that a budget goes where it moves
        the number; or "plan", as they come.
    question
        The stability that the order has in mind, as `{"risk": 0.4, "theta1": 1.0, "theta2": 0.25}`. Without, a threshold
        halfway to what can be expected, at the prices that are the default.
    progress
        Whether a bar is shown; by default on a terminal.

    Returns
    -------
    Runs
        The table, and what is missing from it: printed, it says so. An interrupt (Ctrl-C) ends the asking once the calls under
        way are done, a second one at once; what was asked by then is returned, and `interrupted` is True.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> samples = [{"text": f"What is {k} plus {k}?", "target": str(2 * k)} for k in range(1, 9)]
    >>> def small_model(prompt):  # adds, unless it is shouted at
    ...     words = prompt.strip("?").split()
    ...     return "?" if prompt.isupper() else str(int(words[-3]) + int(words[-1]))
    >>> runs = tp.collect(
    ...     samples,
    ...     [tp.variations.Case("upper"), tp.variations.Wrapper("Please: {text}")],
    ...     ask=small_model,
    ...     judge=lambda answer, sample: float(answer != sample["target"]),
    ... )
    >>> print(runs)
    24 runs of 8 samples in 3 variants by 1 model; the original is 'original'.
      loss        by the judge
      cost        share of words edited
      note        24 prompts sent
    >>> round(runs.profile().stability(risk=0.5, theta1=1.0, theta2=float("inf")).value, 3)
    0.3
    """
    made = as_variations(variations)
    counts = {"draws": draws, "repeats": repeats, "concurrency": concurrency}
    counts |= {"batch": batch} if batch is not None else {}
    counts |= {"calls": calls} if calls is not None else {}
    for each, value in counts.items():
        _check_count(each, value, 1)
    _check_count("retries", retries, 0)
    for each, given, allowed in (("order", order, ORDERS), ("failed", failed, FAILED)):
        if given not in allowed:
            raise InputError(f"{each}={given!r} is none of {listed(allowed)}; use one of them.")
    if not 0.0 <= read_number("backoff", backoff) < math.inf:
        raise InputError(f"backoff={backoff!r} must be a number of seconds, 0 or more.")
    if rate is not None and not 0.0 < read_number("rate", rate) < math.inf:
        raise InputError(f"rate={rate!r} must be positive: prompts a second.")
    if timeout is not None and not 0.0 < read_number("timeout", timeout) <= threading.TIMEOUT_MAX:
        raise InputError(f"timeout={timeout!r} must be a number of seconds above 0.")
    limits = Limits(calls, rate)
    models = _models(ask, name)
    functions = (
        {}
        if store is None
        else {each: _function(each, function, named=_is_named(ask, name)) for each, function in models.items()}
    )
    askers = [Asker(function, each, batch, retries, backoff, timeout, limits) for each, function in models.items()]
    wanted = _question(question or {})
    judged = Judge(judge)
    lines, dropped, priced = plan(samples, made, draws=draws, seed=seed, prompt=prompt, cost=cost)
    kept = Store.open(store, lines, functions)
    try:
        with pool(concurrency, loop=any(asker.asynchronous for asker in askers), timeout=timeout) as workers:
            campaign = Campaign(
                lines,
                askers,
                kept,
                judged,
                workers,
                limits,
                repeats=repeats,
                keeps_failed=failed == "keep",
                ordered=order == "influence",
            )
            campaign.run(wanted, progress=progress)
    finally:
        kept.close()
    notes = (*kept.notes, *campaign.notes)
    return Runs(
        campaign.table(),
        ORIGINAL,
        dict(dropped),
        campaign.unasked,
        "by the judge",
        priced.label,
        notes,
        campaign.interrupted,
        campaign.waiting(),
    )


def _models(ask: Any, name: str | None) -> dict[str, Callable[[Any], Any]]:
    """The models by name; one alone is called by its function."""
    if name is not None and (not isinstance(name, str) or not name or isinstance(ask, Mapping)):
        also = ", and ask names its models already" if isinstance(ask, Mapping) else ""
        raise InputError(f"name={short(name)} must be the name of one model{also}; give some text, or leave it out.")
    if isinstance(ask, Mapping):
        models = {str(each): function for each, function in ask.items()}
    else:
        own = getattr(ask, "__name__", type(ask).__name__)
        models = {name or ("model" if own == LAMBDA else str(own)): ask}
    for each, function in models.items():
        if not callable(function):
            raise InputError(f"ask={short(function)} of {each!r} must be a function from a prompt to an answer.")
    if not models:
        raise InputError("ask is empty; give a function from a prompt to an answer, or several by name.")
    return models


def _is_named(ask: Any, name: str | None) -> bool:
    """Whether the user says what models are called."""
    return name is not None or isinstance(ask, Mapping)


def _function(name: str, function: Any, *, named: bool) -> str | None:
    """The fingerprint by which a store knows a function again; None for a model that the user named."""
    if named:
        return None
    begins = f"{sys.version_info.major}.{sys.version_info.minor}"
    compiled = isinstance(function, (type, BuiltinFunctionType, MethodDescriptorType))
    if compiled and isinstance(getattr(function, "__self__", None), (ModuleType, type(None))):
        return f"{begins}:{fingerprint([getattr(function, '__module__', None) or '', function.__qualname__])[:16]}"
    if isinstance(function, FunctionType) and function.__name__ != LAMBDA and function.__closure__ is None:
        defaults = [*(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items())]
        if all(_is_plain(each) for each in defaults):
            return f"{begins}:{fingerprint([_code(function.__code__), list(map(repr, defaults))])[:16]}"
    shown = getattr(function, "__name__", type(function).__name__)
    raise InputError(
        f"ask={shown} has no name of its own, and the store keeps answers by name: those of another model could be taken for"
        " its. Set name='...', or give ask={'...': function}."
    )


def _is_plain(default: Any) -> bool:
    """Whether the text of a default value tells it from every other."""
    if isinstance(default, tuple):
        return all(map(_is_plain, default))
    return default is None or isinstance(default, (str, bytes, int, float))


def _code(code: CodeType) -> list[Any]:
    """What a function does, as far as its code says it: neither where it stands nor what else it calls."""
    constants = [_code(each) if isinstance(each, CodeType) else _constant(each) for each in code.co_consts]
    return [code.co_code, list(code.co_names), list(code.co_varnames), constants]


def _constant(value: Any) -> str:
    """A constant as text; the order of a set says nothing."""
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _question(given: Mapping[str, Any]) -> Question:
    """The question that the order has in mind."""
    unknown = [name for name in given if name not in QUESTION]
    if unknown:
        raise InputError(f"question={{{unknown[0]!r}: ...}}: a question says {', '.join(QUESTION)}.")
    theta1, theta2 = resolve_prices(given.get("theta1"), given.get("theta2"), given.get("mix"), given.get("budget"))
    risk = given.get("risk")
    return Question(
        None if risk is None else read_number("risk", risk), theta1, theta2, divergence_named(given.get("divergence", "kl"))
    )


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{name}={value!r} must be a whole number, {least} or more.")
