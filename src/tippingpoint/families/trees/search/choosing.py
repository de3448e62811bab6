"""Which searcher there is: compiled kernels, or what does without them."""

from __future__ import annotations

from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.trees.cells import CellForest, CellRows
from tippingpoint.families.trees.kernels import kernels
from tippingpoint.families.trees.search.kernel_search import KernelSearcher
from tippingpoint.families.trees.search.pushing import Sides
from tippingpoint.families.trees.search.searcher import Searcher


def searcher(forest: CellForest, rows: CellRows, sides: Sides, base: FloatArray, now: FloatArray, threads: int = 1) -> Searcher:
    """The fastest there is.

    Parameters
    ----------
    forest, rows
        The trees, and the samples in their cells.
    sides
        To which samples are pushed.
    base
        What outputs are before any tree.
    now
        The losses of the samples as they are, above which places are to rise: by the library's own word.
    threads
        That work at once.
    """
    if kernels() is not None:
        return KernelSearcher(forest, rows, sides, base, now, threads)
    from tippingpoint.families.trees.search.milp_search import MilpSearcher

    return MilpSearcher(forest, rows, sides, base, now)
