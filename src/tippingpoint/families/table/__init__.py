"""Tables of alternatives: no model, only what each costs and what the loss would be; exact."""

from tippingpoint.families.table.family import FAMILY

__all__ = ["FAMILY"]
