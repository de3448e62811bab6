"""Large data are not copied: whoever changes them is told so wherever they are read again, and never gets a wrong number."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tippingpoint as tp
from boxes import PRICES, RISK, WORTH, asked, data, linear
from tippingpoint.data import seals

CHANGED = r"^X changed since it was read, in one of its rows \d+ to \d+; .*: pass X\.copy\(\)\.$"
BOUNDED = tp.Space(lower=-10.0, upper=10.0)


def digest(result: tp.StabilityResult) -> str:
    """The fingerprint of the data of a result."""
    assert result.evidence is not None
    assert result.evidence.origin is not None
    return result.evidence.origin.data_fingerprint()


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every array counts as large."""
    monkeypatch.setattr(seals, "SHARED_FROM", 0)
    monkeypatch.setattr(seals, "BLOCK_BYTES", 7 * 24)


def test_the_same_numbers_with_and_without_sharing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data()
    cases: list[tuple[Any, dict[str, Any]]] = [
        ((WORTH, 0.0), {"loss": loss, "space": space}) for loss in ("hinge", "zero_one") for space in (None, BOUNDED)
    ]
    for model, settings in [*cases, (linear, {})]:
        shared = tp.profile(model, x, y, **settings)
        with monkeypatch.context() as patch:
            patch.setattr(seals, "SHARED_FROM", 2**40)
            copied = tp.profile(model, x, y, **settings)
        one, other = (profile.stability(RISK, **PRICES) for profile in (shared, copied))
        assert shared.seal.array is not None
        assert copied.seal.array is None
        assert one.value == other.value
        assert one.sensitive.equals(other.sensitive)
        assert digest(one) == digest(other)


@pytest.mark.parametrize(
    "settings", [{"loss": "zero_one"}, {"loss": "hinge", "space": BOUNDED}, {"loss": "zero_one", "space": BOUNDED}]
)
def test_a_profile_that_reads_them_again_refuses_changed_data(settings: dict[str, Any]) -> None:
    x, y = data()
    profile = tp.profile((WORTH, 0.0), x, y, **settings)
    before = x.copy()
    np.negative(x, out=x)
    with pytest.raises(tp.InputError, match=CHANGED):
        profile.stability(RISK, **PRICES)
    with pytest.raises(tp.InputError, match=CHANGED):
        _ = profile.reach
    with pytest.raises(tp.InputError, match=CHANGED):
        pickle.dumps(profile)
    x[:] = before
    assert profile.stability(RISK, **PRICES).value == tp.stability((WORTH, 0.0), x, y, RISK, **settings, **PRICES).value


def test_a_closed_form_answers_without_the_data_and_shows_none() -> None:
    x, y = data()
    wanted = tp.stability((WORTH, 0.0), x.copy(), y, RISK, loss="hinge", **PRICES).value
    profile = tp.profile((WORTH, 0.0), x, y, loss="hinge")
    x += 1.0
    result = profile.stability(RISK, **PRICES)
    assert result.value == wanted
    with pytest.raises(tp.InputError, match=CHANGED):
        _ = result.sensitive


def test_a_result_refuses_to_show_changed_data(tmp_path: Path) -> None:
    x, y = data()
    result = tp.stability((WORTH, 0.0), x, y, RISK, **PRICES)
    before, shown = result.value, tp.stability((WORTH, 0.0), x.copy(), y, RISK, **PRICES).sensitive
    x[[1, 2]] = x[[2, 1]]
    for read in (
        lambda: result.sensitive,
        lambda: result.bootstrap(5, seed=0),
        lambda: digest(result),
        lambda: pickle.dumps(result),
        lambda: result.report(tmp_path / "report.html"),
    ):
        with pytest.raises(tp.InputError, match=CHANGED):
            read()
    assert result.value == before
    x[[1, 2]] = x[[2, 1]]
    assert result.sensitive.equals(shown)


def test_a_pickled_result_holds_its_own() -> None:
    x, y = data()
    profile = tp.profile((WORTH, 0.0), x, y, loss="hinge", space=BOUNDED)
    result = profile.stability(RISK, **PRICES)
    shown = result.sensitive
    again, alike = pickle.loads(pickle.dumps((result, profile)))  # noqa: S301  # our own
    x *= 0.0
    assert again.sensitive.equals(shown)
    assert alike.stability(RISK, **PRICES).sensitive.equals(shown)


def test_a_ranking_refuses_to_look_closer_at_changed_data() -> None:
    x, y = data()
    ranked = tp.feature_stability((WORTH, 0.0), x, y, RISK, **PRICES)
    x *= 2.0
    assert ranked.again is not None
    with pytest.raises(tp.InputError, match=CHANGED):
        ranked.again(next(iter(ranked.results)))


def test_a_changed_target_is_noticed_by_its_fingerprint() -> None:
    x, y = data()
    labels = np.asarray(y).astype(np.int64)
    result = tp.stability((WORTH, 0.0), x, labels, RISK, **PRICES)
    labels[3] = 1 - labels[3]
    with pytest.raises(tp.InputError, match=r"^y changed since it was read, .*: pass y\.copy\(\)\.$"):
        digest(result)
    labels[3] = 1 - labels[3]
    known = digest(result)
    labels[3] = 1 - labels[3]
    assert digest(result) == known


def test_a_searched_model_that_writes_into_them_is_an_error() -> None:
    x, y = data()
    calls = 0

    def treacherous(rows: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 8:
            x[5, 1] = 42.0
        return linear(rows)

    with pytest.raises(
        tp.InputError, match=r"X changed while the model was asked, in one of its rows 0 to 6; the model, .*X\.copy\(\)"
    ):
        asked(treacherous, x, y)


def test_data_that_may_not_be_written_are_read() -> None:
    x, y = data()
    models: list[tuple[Any, dict[str, Any]]] = [
        ((WORTH, 0.0), {}),
        ((WORTH, 0.0), {"space": BOUNDED}),
        (linear, {"output": "score"}),
    ]
    wanted = [tp.stability(model, x.copy(), y, RISK, **settings, **PRICES).value for model, settings in models]
    x.flags.writeable = False
    assert [tp.stability(model, x, y, RISK, **settings, **PRICES).value for model, settings in models] == wanted
