"""Models that can only be asked: what they return, and what it means."""

from tippingpoint.families.blackbox.family import FAMILY

__all__ = ["FAMILY"]
