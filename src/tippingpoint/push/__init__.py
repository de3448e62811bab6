"""Pushing a score: what it costs, whichever features do it."""

from tippingpoint.push.curve import BoxPush, FreePush, Piece, Push, Reach
from tippingpoint.push.mixed import MixedPush, Offer, Purchase

__all__ = ["BoxPush", "FreePush", "MixedPush", "Offer", "Piece", "Purchase", "Push", "Reach"]
