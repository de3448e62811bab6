# What native/module.cpp compiles to, for type checkers; kernels.py says whether it is there.

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

_Bytes: TypeAlias = npt.NDArray[np.uint8]
_Ints: TypeAlias = npt.NDArray[np.int32]
_Longs: TypeAlias = npt.NDArray[np.int64]
_Words: TypeAlias = npt.NDArray[np.uint64]
_Floats: TypeAlias = npt.NDArray[np.float64]

def version() -> int: ...
def leaves(
    feature: _Ints,
    threshold: _Floats,
    missing_left: _Bytes,
    members: _Ints,
    left: _Ints,
    right: _Ints,
    leaf: _Ints,
    roots: _Ints,
    sets: _Floats,
    set_begins: _Ints,
    x: _Floats,
    found: _Ints,
    /,
) -> None: ...

class Ensemble:
    def __init__(
        self,
        ordered: _Bytes,
        cells: _Ints,
        cuts: _Floats,
        cut_begins: _Longs,
        price: _Floats,
        step: _Floats,
        vanishing: _Floats,
        costs: _Floats,
        cost_begins: _Longs,
        variable: _Ints,
        cut: _Ints,
        left: _Ints,
        right: _Ints,
        missing_left: _Bytes,
        roots: _Ints,
        masks: _Words,
        values: _Floats,
        x: _Floats,
        low: _Floats,
        high: _Floats,
        home: _Ints,
        option: _Ints,
        /,
    ) -> None: ...
    def search(
        self,
        rows: _Ints,
        begins: _Ints,
        weights: _Floats,
        offset: _Floats,
        loss: _Ints,
        price: _Floats,
        now: _Floats,
        losses: list[tuple[int, list[float]]],
        known: _Floats,
        refused_begins: _Ints,
        refused: _Ints,
        budget: int,
        seconds: float,
        threads: int,
        profit: _Floats,
        bound: _Floats,
        found: _Bytes,
        cut: _Bytes,
        cells: _Ints,
        passes: _Ints,
        /,
    ) -> bool: ...
    def along(self, rows: _Ints, variable: int, threads: int, outputs: _Floats, /) -> bool: ...
    def scores(self, cells: _Ints, outputs: _Floats, /) -> None: ...
