"""Tests that take minutes without compiled kernels, or are about them."""

from __future__ import annotations

import pytest

from tippingpoint.families.trees.kernels import kernels

WITHOUT = "the kernels are not compiled here"

needs_kernels = pytest.mark.skipif(kernels() is None, reason=WITHOUT)
