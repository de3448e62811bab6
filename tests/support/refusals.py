"""Bad input is refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tippingpoint as tp


def refusal(call: Callable[[], object]) -> tp.InputError:
    """The error with which a call is refused, in one sentence."""
    with pytest.raises(tp.InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
    return caught.value
