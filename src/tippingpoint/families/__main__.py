"""`python -m tippingpoint.families`: what every family declares, as the table that the README holds."""

from tippingpoint.families.capabilities import table
from tippingpoint.families.registry import FAMILIES
from tippingpoint.losses import LOSSES


def declared() -> str:
    """The table of all families that are registered."""
    return table([(family.name, family.capabilities) for family in FAMILIES], LOSSES)


if __name__ == "__main__":
    print(declared())
