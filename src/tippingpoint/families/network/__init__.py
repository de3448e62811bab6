"""PyTorch modules: searched by their gradients, bounded from below where the layers allow it, exact along a column."""

from tippingpoint.families.network.family import FAMILY

__all__ = ["FAMILY"]
