"""Rows dealt out at random: p-values of samples that differ by chance are uniform, and of others are small."""

from __future__ import annotations

import numpy as np
import pytest

from tippingpoint.core.arrays import FloatArray
from tippingpoint.errors import InputError
from tippingpoint.transport import drift_by_switching, drift_on_line, permuted, permuted_levels


def test_p_values_of_equal_populations_are_uniform() -> None:
    """Of 300 tests, 15 are expected below 0.05 and 150 below one half; four standard deviations are allowed."""
    rng = np.random.default_rng(0)
    found = []
    for seed in range(300):
        pooled = rng.normal(size=60) if seed % 2 else rng.integers(0, 5, size=60).astype(float)
        weights = rng.random(60)
        test = permuted(pooled[:35], weights[:35], pooled[35:], weights[35:], price=1.0, theta2=1.0, permutations=19, seed=seed)
        found.append(test.p_value)
    values = np.array(found)
    assert 1 <= (values <= 0.05).sum() <= 30
    assert 115 <= (values <= 0.5).sum() <= 185
    assert 0.43 <= values.mean() <= 0.6


@pytest.mark.parametrize("divergence", ["kl", "chi2"])
def test_a_shift_is_noticed_and_the_floor_is_that_of_chance(divergence: str) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=800), 0.4 + rng.normal(size=600)
    test = permuted(x, None, y, None, price=1.0, theta2=1.0, divergence=divergence, permutations=39)
    assert test.p_value == 1.0 / 40.0
    found = drift_on_line(x, None, y, None, price=1.0, theta2=1.0, divergence=divergence, tolerance=1e-4)
    assert test.value == pytest.approx(found.upper, rel=0.02)
    fresh = [
        drift_on_line(rng.normal(size=800), None, rng.normal(size=600), None, price=1.0, theta2=1.0, divergence=divergence)
    ]
    assert 0.0 < test.floor < 10 * fresh[0].upper
    assert test.floor < 0.1 * test.value


def test_the_value_is_found_as_the_others_are() -> None:
    """The samples as they are, dealt out in their own order, are one of the deals."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=30), rng.normal(size=30)
    one = permuted(x, None, y, None, price=1.0, theta2=1.0, permutations=5)
    same = permuted(x[::-1], None, y[::-1], None, price=1.0, theta2=1.0, permutations=5)
    assert same.value == pytest.approx(one.value, rel=1e-12)
    everything = permuted([0.0, 1.0], None, [0.0, 1.0, 1.0], None, price=1.0, theta2=1.0, permutations=200)
    splits = {round(float(v), 9) for v in everything.null}
    pool = np.array([0.0, 1.0, 0.0, 1.0, 1.0])
    every = set()
    for first in range(5):
        for second in range(first):
            chosen = np.isin(np.arange(5), [first, second])
            every.add(
                round(drift_on_line(pool[chosen], None, pool[~chosen], None, price=1.0, theta2=1.0, tolerance=1e-6).upper, 9)
            )
    assert len(splits) == len(every)
    for value in splits:
        assert min(abs(value - other) for other in every) < 0.03 * value + 1e-9


def test_the_same_seed_gives_the_same_bytes() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=50), rng.normal(size=40)
    one, two, other = (permuted(x, None, y, None, price=1.0, theta2=1.0, permutations=9, seed=seed) for seed in (4, 4, 5))
    assert one.null.tobytes() == two.null.tobytes()
    assert one.null.tobytes() != other.null.tobytes()


def test_labels_go_with_their_rows() -> None:
    """The numbers are those of the labels: only number and label together tell the samples apart."""
    rng = np.random.default_rng(4)
    labels, current = np.arange(200) % 2, np.arange(200) % 2
    x, y = labels + 0.1 * rng.normal(size=200), (1 - current) + 0.1 * rng.normal(size=200)
    alone = permuted(x, None, y, None, price=1.0, theta2=1.0, permutations=19)
    both = permuted(x, None, y, None, price=1.0, theta2=1.0, labels=labels, current_labels=current, permutations=19)
    assert both.p_value == 0.05
    assert both.value > 100 * alone.value
    with pytest.raises(InputError, match="belong together"):
        permuted(x, None, y, None, price=1.0, theta2=1.0, labels=labels)


def test_a_label_that_only_one_sample_gets_is_infinitely_far() -> None:
    test = permuted(
        [0.0, 1.0, 2.0], None, [0.0, 1.0], None, price=1.0, theta2=1.0, labels=[0, 0, 1], current_labels=[0, 0], permutations=40
    )
    assert np.isfinite(test.value)
    assert np.isinf(test.null).any()
    assert np.isfinite(test.null).any()


def test_levels_are_dealt_out_with_their_weights() -> None:
    def value(p: FloatArray, q: FloatArray) -> float:
        return drift_by_switching(p, q, switch=1.0, theta2=1.0).upper

    test = permuted_levels(["a"] * 50 + ["b"] * 50, None, ["a"] * 20 + ["b"] * 80, None, value, permutations=99)
    assert test.value == pytest.approx(value(np.array([0.5, 0.5]), np.array([0.2, 0.8])))
    assert test.p_value == 0.01
    weighted = permuted_levels(["a", "b"], [1.0, 3.0], ["a", "b"], [3.0, 1.0], value, permutations=99)
    assert weighted.value == pytest.approx(value(np.array([0.25, 0.75]), np.array([0.75, 0.25])))


def test_permutations_are_counted() -> None:
    with pytest.raises(InputError, match="permutations=0"):
        permuted([0.0], None, [1.0], None, price=1.0, theta2=1.0, permutations=0)


def test_a_deal_that_leaves_a_sample_without_weight_is_infinitely_far() -> None:
    test = permuted([0.0, 1.0, 2.0], [1, 0, 0], [0.0, 1.0], [1, 0], price=1.0, theta2=1.0, permutations=40)
    assert np.isinf(test.null).any()
    assert np.isfinite(test.null).any()
    levels = permuted_levels([0, 1, 2], [1, 0, 0], [0, 1], [1, 0], lambda p, q: float(p @ q), permutations=40)
    assert np.isinf(levels.null).any()


def test_bins_that_do_not_move_are_dealt_out_too() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 3, size=200), rng.integers(0, 3, size=200)
    test = permuted(x, None, y, None, price=float("inf"), theta2=1.0, permutations=19)
    before, after = np.bincount(x) / 200, np.bincount(y) / 200
    assert test.value == pytest.approx(after @ np.log(after / before))
    assert np.isfinite(test.floor)


def test_more_permutations_are_made_only_for_a_small_p_value() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=60)
    alike = permuted(x[:30], None, x[30:], None, price=1.0, theta2=1.0, permutations=19, most=79)
    assert (len(alike.null), alike.p_value >= 0.05) == (19, True)
    apart = permuted(x[:30], None, x[30:] + 5.0, None, price=1.0, theta2=1.0, permutations=39, most=79)
    assert (len(apart.null), apart.p_value) == (79, 1.0 / 80.0)
    levels = ["a"] * 30, ["b"] * 30

    def value(p: FloatArray, q: FloatArray) -> float:
        return drift_by_switching(p, q, switch=1.0, theta2=1.0).upper

    found = permuted_levels(levels[0], None, levels[1], None, value, permutations=39, most=59)
    assert len(found.null) == 59


def test_p_values_stay_valid_if_large_ones_end_early() -> None:
    """Of 400 tests of equal populations, at most so many are small as chance allows: four standard deviations."""
    rng = np.random.default_rng(6)
    found = []
    for seed in range(400):
        pooled = rng.normal(size=16)

        def value(p: FloatArray, q: FloatArray, pooled: FloatArray = pooled) -> float:
            return abs(float((p - q) @ pooled))

        rows = np.arange(8), None, np.arange(8, 16), None
        found.append(permuted_levels(*rows, value, permutations=19, most=99, seed=seed).p_value)
    values = np.array(found)
    for level in (0.01, 0.02, 0.05, 0.1, 0.5):
        assert (values <= level).sum() <= 400 * level + 4.0 * np.sqrt(400 * level * (1.0 - level))
