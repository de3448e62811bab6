"""Which searcher there is: compiled kernels, or what does without them."""

from __future__ import annotations

from tippingpoint.core.arrays import FloatArray
from tippingpoint.families.trees.cells import CellForest, CellRows
from tippingpoint.families.trees.kernels import kernels
from tippingpoint.families.trees.search.kernel_search import KernelSearcher
from tippingpoint.families.trees.search.pushing import Sides
from tippingpoint.families.trees.search.searcher import Searcher


def searcher(forest: CellForest, rows: CellRows, sides: Sides, base: FloatArray, threads: int = 1) -> Searcher:
    """The fastest there is, for samples that are pushed to these sides; `base` is what outputs are before any tree."""
    if kernels() is not None:
        return KernelSearcher(forest, rows, sides, base, threads)
    from tippingpoint.families.trees.search.milp_search import MilpSearcher

    return MilpSearcher(forest, rows, sides, base)
