"""What may move: what a user declares of features, and what that is in numbers."""

from tippingpoint.space.space import Space

__all__ = ["Space"]
