"""The twin of what a page holds: best responses among embedded atoms, as the browser finds them, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from tippingpoint.core.atoms import Envelopes
from tippingpoint.report.packing import unpack


class Twin(Envelopes):
    """Best responses among the places that a page holds; it fulfils `tippingpoint.core.responses.BestResponses`.

    Parameters
    ----------
    held
        Embedded atoms: every sample's loss, and how many places it has, with the lift and the cost of each, both rising.
    """

    def __init__(self, held: dict[str, Any]) -> None:
        self.losses = unpack(held["losses"])
        atoms = Envelopes.of_moves(unpack(held["count"]).astype(np.intp), unpack(held["lift"]), unpack(held["cost"]))
        super().__init__(atoms.first, atoms.lift, atoms.cost)
