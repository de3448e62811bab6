"""Linear models: exact."""

from tippingpoint.families.linear.family import FAMILY

__all__ = ["FAMILY"]
