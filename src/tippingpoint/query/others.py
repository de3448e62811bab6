"""What a search of samples takes from other samples, where its own are a part of the data: a sample of all rows."""

from __future__ import annotations

from dataclasses import dataclass

from tippingpoint.core.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Others:
    """Rows that searches learn from, the same for every part of the data.

    Everything that a row's search is told of other rows comes from here, and what is drawn at random for it is drawn by its
    number among all rows. Searches run one after the other, and calls are counted by row. So what is found for a row depends
    neither on the rows beside it nor on how many there are, as long as the model's answers do not.

    Attributes
    ----------
    x
        `(m, d)` where they are.
    labels
        The true class of each, where there are classes.
    now
        `v` of each.
    numbers
        `(n,)` of the samples that are searched, among all rows of the data.
    """

    x: FloatArray
    labels: IntArray | None
    now: FloatArray
    numbers: IntArray
