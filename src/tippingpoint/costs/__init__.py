"""What it costs to ask otherwise: share of words edited, changes of layout, distance of meanings or pixels, prices by name.

The cost of a table takes the place of a *squared* distance, and `theta1` is paid for a unit of it. A share of words edited is
one already: with every word a direction of its own, the squared distance of two texts grows by the same with every word that
is replaced. So shares are not squared unless you say so.
"""

from __future__ import annotations

from tippingpoint.costs.base import Cost, Pair
from tippingpoint.costs.embeddings import EmbeddingDistance, PixelDistance
from tippingpoint.costs.prices import Prices
from tippingpoint.costs.words import FormatChanges, WordEdits

__all__ = ["Cost", "EmbeddingDistance", "FormatChanges", "Pair", "PixelDistance", "Prices", "WordEdits"]
