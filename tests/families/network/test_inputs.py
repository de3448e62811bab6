"""Modules of several inputs: what moves, what rides along, what never moves, and numbers known otherwise."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from jsonschema import Draft202012Validator
from torch import Tensor, nn

import tippingpoint as tp
from attention import CLASSES, SAMPLES, TOKENS, WIDTH, Attention, Classifier, Closed, Pooled, Positional, answers, sentences
from refusals import refusal
from tippingpoint.schemas import schema_text

EMBEDS, MASK = sentences()
NET = Attention().eval()
Y = answers(NET, EMBEDS, MASK)
X: dict[str, Any] = {"inputs_embeds": EMBEDS, "attention_mask": MASK}
ASKED: dict[str, Any] = {"theta1": 1.0, "theta2": 0.25}
KINDS: dict[str, dict[str, Any]] = {
    "error": {"risk": 0.7},
    "cross-entropy": {"risk": 1.2, "loss": "cross_entropy"},
    "paper": {"risk": 1.2, "loss": "cross_entropy", "method": "paper", "epochs": 15},
    "bounded": {"risk": 1.2, "loss": "cross_entropy", "space": tp.Space(lower=-4.0, upper=4.0)},
}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def losses(outputs: Tensor, y: Any, kind: str) -> Any:
    target = torch.as_tensor(y)
    if kind == "error":
        return (outputs.argmax(1) != target).double().numpy()
    return nn.functional.cross_entropy(outputs.double(), target, reduction="none").numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_padding_stays_to_the_bit_and_the_module_itself_confirms_every_atom(kind: str) -> None:
    given = {"inputs_embeds": torch.tensor(EMBEDS, dtype=torch.float32), "attention_mask": torch.tensor(MASK, dtype=torch.bool)}
    result = tp.stability(NET, given, Y, **KINDS[kind], **ASKED)
    q, moved = result.sensitive, result.moved_inputs()
    rows = torch.tensor(q["row"].tolist())
    padding = ~given["attention_mask"][rows]
    assert result.value > 0.0
    assert bool(padding.any())
    assert torch.equal(moved["inputs_embeds"][padding], given["inputs_embeds"][rows][padding])
    assert torch.equal(moved["attention_mask"], given["attention_mask"][rows])
    assert (moved["inputs_embeds"].dtype, moved["attention_mask"].dtype) == (torch.float32, torch.bool)
    steps = (moved["inputs_embeds"] - given["inputs_embeds"][rows]).double().numpy()
    np.testing.assert_allclose(np.square(steps).sum(axis=(1, 2)), q["cost"], rtol=1e-6, atol=1e-9)
    shown = q[[f"inputs_embeds[{t}]" for t in range(TOKENS)]].to_numpy()
    np.testing.assert_allclose(shown, np.linalg.norm(steps, axis=2), rtol=1e-5, atol=1e-7)
    with torch.no_grad():
        found = losses(NET(**moved), Y[q["row"]], kind)
    np.testing.assert_allclose(found, q["loss"], atol=1e-5)
    assert float(q["mass"] @ found) == pytest.approx(KINDS[kind]["risk"], abs=1e-5)
    assert any("padding by attention_mask, and never move" in note for note in result.notes)


@pytest.mark.parametrize("kind", ["error", "cross-entropy"])
def test_what_stands_at_padding_makes_no_difference(kind: str) -> None:
    garbage = np.where(MASK[:, :, None] == 1, EMBEDS, 1e3 * np.random.default_rng(5).normal(size=EMBEDS.shape))
    plain = tp.stability(NET, X, Y, **KINDS[kind], **ASKED)
    assert tp.stability(NET, {**X, "inputs_embeds": garbage}, Y, **KINDS[kind], **ASKED).value == plain.value


@pytest.mark.parametrize("loss", ["zero_one", "cross_entropy", "hinge", "squared_hinge"])
def test_a_linear_transformer_is_the_linear_model_of_its_pooled_tokens(loss: str) -> None:
    """`Σ_t ‖s_t‖² ≥ L·‖mean s_t‖²`, with equality where all tokens shift alike: the pooled vector moves at price `L`."""
    coef, length = np.array([1.0, -0.7, 0.4, 0.9]), 3
    mask = np.tile((np.arange(TOKENS) < length).astype(int), (SAMPLES, 1))
    pooled = EMBEDS[:, :length].mean(axis=1)
    y = (pooled @ coef + np.random.default_rng(3).normal(size=SAMPLES) > 0.0).astype(int)
    searched = tp.profile(Pooled(coef, 0.1).eval(), {"inputs_embeds": EMBEDS, "attention_mask": mask}, y, loss=loss)
    exact = tp.profile((coef, 0.1), pooled, y, loss=loss, space=tp.Space(price=float(length)))
    risk = 0.6 if loss == "zero_one" else 1.6 * exact.risk
    for prices in (ASKED, {"theta1": 0.3, "theta2": math.inf}):
        found, wanted = searched.stability(risk, **prices), exact.stability(risk, **prices)
        assert found.value == pytest.approx(wanted.value, rel=1e-5)
        assert found.upper >= wanted.lower * (1.0 - 1e-9), "a search finds nothing cheaper than what is proved"
        assert (wanted.exact, found.exact, found.lower) == (True, False, 0.0)


def test_sentences_of_different_lengths_have_the_distances_of_the_closed_form() -> None:
    coef = np.array([1.0, -0.7, 0.4, 0.9])
    lengths = MASK.sum(axis=1)
    margin = (EMBEDS * MASK[:, :, None]).sum(axis=1) / lengths[:, None] @ coef
    y = (margin + np.random.default_rng(3).normal(size=SAMPLES) > 0.0).astype(int)
    wrong = (margin > 0.0) != (y == 1)
    table = pd.DataFrame(
        {
            "sample": np.tile(np.arange(SAMPLES), 2),
            "cost": np.concatenate([np.zeros(SAMPLES), margin**2 * lengths / (coef @ coef)]),
            "loss": np.concatenate([wrong, np.ones(SAMPLES)]),
        }
    )
    found = tp.stability(Pooled(coef, 0.0).eval(), X, y, 0.7, **ASKED)
    assert found.value == pytest.approx(tp.profile_table(table).stability(0.7, **ASKED).value, rel=1e-6)


@pytest.mark.parametrize("kind", ["error", "cross-entropy"])
@pytest.mark.parametrize("length", [TOKENS, 3])
def test_a_mapping_gives_the_numbers_of_a_module_that_holds_its_mask(kind: str, length: int) -> None:
    one = (np.arange(TOKENS) < length).astype(int)
    frozen = [f"x{j}" for j in range(length * WIDTH, TOKENS * WIDTH)]
    asked = {**KINDS[kind], **ASKED, **({} if length == TOKENS else {"restarts": 0})}  # of fewer numbers others are drawn
    y = answers(NET, EMBEDS, np.tile(one, (SAMPLES, 1)))
    closed = tp.stability(Closed(NET, torch.tensor(one)).eval(), EMBEDS, y, **asked, space=tp.Space(frozen=frozen))
    given = tp.stability(NET, {"inputs_embeds": EMBEDS, "attention_mask": np.tile(one, (SAMPLES, 1))}, y, **asked)
    assert given.value == pytest.approx(closed.value, rel=1e-6)
    assert given.current_risk == closed.current_risk


def test_a_classifier_as_hugging_face_writes_it_is_read_by_its_logits() -> None:
    classifier = Classifier(NET).eval()
    types = np.random.default_rng(6).integers(0, 2, size=MASK.shape)
    with torch.no_grad():
        logits = classifier(None, torch.tensor(MASK), torch.tensor(types), torch.tensor(EMBEDS).float()).logits
    y = logits.argmax(1).numpy()
    given = {**X, "token_type_ids": types}
    result = tp.stability(classifier, given, y, 0.5, **ASKED)
    assert result.current_risk == 0.0
    assert (result.moved_inputs()["token_type_ids"] == types[result.sensitive["row"]]).all()
    ids = {"input_ids": np.ones_like(MASK), "attention_mask": MASK}
    assert "embed them, as {'inputs_embeds'" in str(refusal(lambda: tp.stability(classifier, ids, y, 0.5)))
    tensor = str(refusal(lambda: tp.stability(classifier, EMBEDS, y, 0.5)))
    assert "it takes inputs_embeds by name: pass X as {'inputs_embeds': ...}" in tensor


def test_a_module_of_one_tensor_may_hold_its_logits_too() -> None:
    class Held(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 1)

        def forward(self, x: Tensor) -> Any:
            return type("Output", (), {"logits": self.layer(x)})()

    held, x = Held().eval(), np.random.default_rng(0).normal(size=(20, 3))
    y = (x[:, 0] > 0.0).astype(int)
    plain = tp.stability(nn.Sequential(held.layer), x, y, 0.9, **ASKED)
    assert tp.stability(held, x, y, 0.9, **ASKED).upper == pytest.approx(plain.upper, rel=1e-6)


def test_names_that_forward_does_not_have_are_given_in_their_order() -> None:
    result = tp.stability(Positional(NET).eval(), X, Y, **KINDS["error"], **ASKED)
    assert result.value == tp.stability(NET, X, Y, **KINDS["error"], **ASKED).value
    assert "the module was given inputs_embeds, attention_mask in this order, as its forward has other names" in result.notes


def test_a_padding_mask_marks_padding_as_pytorch_has_it() -> None:
    class Inverted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = NET

        def forward(self, src: Tensor, src_key_padding_mask: Tensor) -> Tensor:
            found: Tensor = self.inner(src, ~src_key_padding_mask)
            return found

    given = {"src": EMBEDS, "src_key_padding_mask": MASK == 0}
    result = tp.stability(Inverted().eval(), given, Y, **KINDS["error"], **ASKED)
    assert result.value == tp.stability(NET, X, Y, **KINDS["error"], **ASKED).value


def test_the_same_question_has_the_same_bytes_and_batches_only_round() -> None:
    first, again = (tp.stability(NET, X, Y, **KINDS["cross-entropy"], **ASKED) for _ in range(2))
    assert first.to_json() == again.to_json()
    few = tp.stability(NET, X, Y, **KINDS["cross-entropy"], **ASKED, batch=5, device="cpu")
    assert few.value == pytest.approx(first.value, rel=1e-4)


def test_an_interrupted_search_says_so_and_keeps_padding_where_it_is() -> None:
    seen = 0

    class Stopped(Attention):
        def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> Tensor:
            nonlocal seen
            seen += 1
            if seen == 60:
                raise KeyboardInterrupt
            return super().forward(inputs_embeds, attention_mask)

    result = tp.stability(Stopped().eval(), X, Y, **KINDS["error"], **ASKED)
    assert result.interrupted
    moved, rows = result.moved_inputs()["inputs_embeds"], result.sensitive["row"].to_numpy()
    assert np.array_equal(moved[MASK[rows] == 0], EMBEDS[rows][MASK[rows] == 0])


class Two(nn.Module):
    """A picture and a text, by one score each."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.text, self.image = nn.Linear(WIDTH, 1).double(), nn.Linear(8, 1).double()

    def forward(self, inputs_embeds: Tensor, pixel_values: Tensor) -> Tensor:
        found: Tensor = self.text(inputs_embeds.mean(1)) + self.image(pixel_values.flatten(1))
        return found


TWO = Two().eval()
PIXELS = np.random.default_rng(4).random((SAMPLES, 2, 2, 2))
BOTH = {"inputs_embeds": EMBEDS, "pixel_values": PIXELS}
SIDES = (np.random.default_rng(9).random(SAMPLES) > 0.5).astype(int)


def both(**settings: Any) -> tp.StabilityResult:
    return tp.stability(TWO, BOTH, SIDES, 0.9, **ASKED, **settings)


def test_a_space_names_inputs_and_says_which_move_how_far_and_at_what_price() -> None:
    frozen, movable = both(space=tp.Space(frozen=["pixel_values"])), both(space=tp.Space(movable=["inputs_embeds"]))
    assert frozen.value == movable.value > both().value
    assert np.array_equal(frozen.moved_inputs()["pixel_values"], PIXELS[frozen.sensitive["row"]])
    assert (frozen.unit, both().unit) == ("units of inputs_embeds", "units of the inputs")
    assert list(both().sensitive.columns[7:]) == [*(f"inputs_embeds[{t}]" for t in range(TOKENS)), "pixel_values"]
    dear = both(space=tp.Space(price={"pixel_values": 1e9}), scale="raw")
    assert dear.value == pytest.approx(frozen.value, rel=1e-4)
    boxed = both(space=tp.Space(lower={"pixel_values": 0.0}, upper={"pixel_values": 1.0}, direction={"inputs_embeds": "up"}))
    moved, rows = boxed.moved_inputs(), boxed.sensitive["row"].to_numpy()
    assert moved["pixel_values"].min() >= 0.0
    assert moved["pixel_values"].max() <= 1.0
    assert (moved["inputs_embeds"] >= EMBEDS[rows]).all()
    assert boxed.value > both().value


def test_a_scale_is_one_unit_for_each_input_but_for_padding() -> None:
    spread = np.std(EMBEDS[MASK == 1])
    garbage = np.where(MASK[:, :, None] == 1, EMBEDS, 77.0)
    asked = {**KINDS["error"], **ASKED}
    by_std = tp.stability(NET, {**X, "inputs_embeds": garbage}, Y, scale="std", **asked)
    own = tp.stability(NET, X, Y, scale={"inputs_embeds": spread}, **asked)
    priced = tp.stability(NET, X, Y, space=tp.Space(price=1.0 / spread**2), **asked)
    assert by_std.value == pytest.approx(own.value, rel=1e-6)
    assert own.value == pytest.approx(priced.value, rel=1e-6)
    assert (by_std.unit, own.unit) == ("standard deviations", "units of your own")
    low, high = np.quantile(EMBEDS[MASK == 1], [0.25, 0.75], method="median_unbiased")
    quartiles = tp.stability(NET, X, Y, scale="iqr", **asked)
    again = tp.stability(NET, X, Y, scale={"inputs_embeds": high - low}, **asked)
    assert quartiles.value == pytest.approx(again.value, rel=0.05)


def test_where_all_is_padding_nothing_moves() -> None:
    class Unmasked(Attention):
        def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> Tensor:
            return super().forward(inputs_embeds, torch.ones_like(attention_mask))

    given = {**X, "attention_mask": np.zeros_like(MASK)}
    for scale in ("raw", "std"):
        result = tp.stability(Unmasked().eval(), given, Y, 0.7, scale=scale, **ASKED)
        assert result.moved_share == 0.0
        assert np.array_equal(result.moved_inputs()["inputs_embeds"], EMBEDS[result.sensitive["row"]])


def test_inputs_on_other_scales_warn_by_what_they_hold() -> None:
    wide = {**BOTH, "pixel_values": 1e4 * PIXELS}
    words = "of pixels of 'pixel_values' is .* times as far as one of embedding coordinates of 'inputs_embeds'.* each input"
    with pytest.warns(tp.ScaleWarning, match=words):
        tp.profile(TWO, wide, SIDES)
    tp.profile(TWO, wide, SIDES, scale="raw")
    tp.profile(TWO, wide, SIDES, space=tp.Space(frozen=["pixel_values"]))


def test_weights_models_side_by_side_and_pickles_work_as_for_tables() -> None:
    asked = {**KINDS["error"], **ASKED}
    weights = np.ones(SAMPLES)
    weights[3:7] = 0.0
    kept = np.flatnonzero(weights)
    some = {name: values[kept] for name, values in X.items()}
    weighted = tp.stability(NET, X, Y, sample_weight=weights, **asked)
    assert weighted.value == tp.stability(NET, some, Y[kept], **asked).value
    comparison = tp.compare({"one": NET, "other": Attention(seed=8).eval()}, X, Y, **asked)
    assert comparison.results["one"].value == tp.stability(NET, X, Y, **asked).value
    assert not comparison.verdict("other").decided
    again = pickle.loads(pickle.dumps(weighted))  # noqa: S301  # our own
    pd.testing.assert_frame_equal(again.sensitive, weighted.sensitive)
    assert np.array_equal(again.moved_inputs()["inputs_embeds"], weighted.moved_inputs()["inputs_embeds"])


def test_a_report_holds_distances_a_position_and_not_a_column_a_number(tmp_path: Path) -> None:
    result = tp.stability(NET, X, Y, **KINDS["cross-entropy"], **ASKED)
    result.report(tmp_path / "report.json")
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    Draft202012Validator(json.loads(schema_text("report"))).validate(document)
    assert document["rows"]["columns"] == [f"inputs_embeds[{t}]" for t in range(TOKENS)]
    assert document["rows"]["shifts"]
    assert not document["rows"]["doubts"], "a distance leaves no range, and is no whole number"
    assert all(move["distance"] for move in document["moves"])
    top = document["rows"]["top"][0]
    sizes = [then for _, then in top["changes"]]
    assert sum(size**2 for size in sizes) == pytest.approx(top["cost"], rel=1e-5)
    result.report(tmp_path / "report.md")
    assert "in units of the input" in (tmp_path / "report.md").read_text(encoding="utf-8")
    result.report(tmp_path / "report.html")
    assert "0 is where it is now" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_pictures_are_of_distances_and_no_boundary_is_drawn_in_them() -> None:
    result = tp.stability(NET, X, Y, **KINDS["cross-entropy"], **ASKED)
    drawn = result.plot_sensitive(["inputs_embeds[0]", "inputs_embeds[1]"], labels=Y)
    assert drawn.get_xlabel() == "how far inputs_embeds[0] moves"
    with pytest.raises(tp.UnsupportedError, match="no boundary to draw"):
        result.plot_sensitive(model=NET)


def test_what_is_not_served_is_refused() -> None:
    with pytest.raises(tp.UnsupportedError, match="feature_stability ranks columns of a table"):
        tp.feature_stability(NET, X, Y, 0.7)
    with pytest.raises(tp.UnsupportedError, match="method='exact' serves one hidden layer"):
        tp.stability(NET, X, Y, 0.7, method="exact")
    stored = tp.StabilityResult.from_json(tp.stability(NET, X, Y, 0.7).to_json())
    with pytest.raises(tp.DetachedError, match="read from JSON"):
        stored.moved_inputs()
    linear = tp.stability(([1.0], -1.5), [[0.0], [1.0], [2.0]], [0, 0, 1], 0.5)
    with pytest.raises(tp.UnsupportedError, match=r"result\.sensitive holds them"):
        linear.moved_inputs()


def test_moved_inputs_of_images_are_images() -> None:
    images = np.random.default_rng(0).random((20, 1, 3, 3))
    net = nn.Sequential(nn.Flatten(), nn.Linear(9, 1)).eval()
    result = tp.stability(net, images, np.arange(20) % 2, 0.9, **ASKED)
    flat = result.sensitive[[f"x{j}" for j in range(9)]].to_numpy()
    assert np.array_equal(result.moved_inputs(), flat.reshape(-1, 1, 3, 3))


def test_data_that_a_module_writes_into_are_noticed() -> None:
    mask = MASK.copy()

    class Writing(Attention):
        def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> Tensor:
            mask[0, 0] = 0
            return super().forward(inputs_embeds, attention_mask)

    with pytest.raises(tp.InputError, match=r"X\['attention_mask'\] changed while the model was asked"):
        tp.stability(Writing().eval(), {**X, "attention_mask": mask}, Y, 0.7)


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "lengths": (lambda: {**X, "attention_mask": MASK[:5]}, r"X\['attention_mask'\] has 5 rows but X\['inputs_embeds'\] has 24"),
    "nothing": (dict, "X is an empty mapping"),
    "no floats": (lambda: {"input_ids": MASK}, r"no input that can move \(input_ids: int64\)"),
    "mask too long": (
        lambda: {**X, "attention_mask": np.ones((SAMPLES, 9))},
        r"shape \(24, 9\), and inputs_embeds has \(24, 5, 4\)",
    ),
    "mask of squares": (lambda: {**X, "attention_mask": np.ones((SAMPLES, 5, 5))}, r"shape \(24, 5, 5\).*\(rows, positions\)"),
    "mask of minus infinity": (lambda: {**X, "attention_mask": np.where(MASK, 0.0, -1e4)}, r"holds -10000\.0; a mask holds 1"),
    "misspelt": (lambda: {**X, "token_types": MASK}, "'token_types', which the module's forward does not take; it takes"),
    "nearly right": (
        lambda: {"inputs_embeds": EMBEDS, "attention_maks": MASK},
        "'attention_maks', which the module's forward does not take; call it 'attention_mask'",
    ),
    "too many": (lambda: {"a": EMBEDS, "b": MASK, "c": MASK}, "X has the inputs a, b, c, and the module's forward takes"),
    "not a number": (
        lambda: {**X, "inputs_embeds": np.where(EMBEDS > 2.0, np.nan, EMBEDS)},
        r"X\['inputs_embeds'\]\[\d+, \d, \d\]=nan",
    ),
    "infinite": (
        lambda: {**X, "inputs_embeds": np.where(EMBEDS > 2.0, np.inf, EMBEDS)},
        r"X\['inputs_embeds'\]\[\d+, \d, \d\]=inf",
    ),
    "text": (lambda: {**X, "words": ["a"] * SAMPLES}, r"X\['words'\] holds <U1, which no tensor does"),
    "ragged": (lambda: {**X, "spans": [[1], [1, 2]] * 12}, r"X\['spans'\] has rows of different lengths"),
    "a single value": (lambda: {**X, "scale": 3.0}, r"X\['scale'\] is a single value"),
    "no rows": (lambda: {"inputs_embeds": EMBEDS[:0], "attention_mask": MASK[:0]}, "there is nothing to evaluate"),
    "a number as a name": (lambda: {0: EMBEDS}, "X has the key 0; name inputs by text"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_inputs_get_one_sentence(kind: str) -> None:
    make, words = BAD[kind]
    assert refusal(lambda: tp.stability(NET, make(), Y, 0.7)).args[0]
    with pytest.raises(tp.InputError, match=words):
        tp.stability(NET, make(), Y, 0.7)


BAD_SPACES: dict[str, tuple[dict[str, Any], str]] = {
    "frozen": ({"frozen": ["pixels"]}, "frozen names 'pixels', which is no input; the inputs are"),
    "movable": ({"movable": ["attention_mask"]}, "'attention_mask', which is a mask or holds no floats, so it rides along"),
    "price": ({"price": {"inputs_embeds": -1.0}}, r"price\['inputs_embeds'\]=-1 must be a positive number"),
    "prices": ({"price": [1.0, 2.0]}, "give one number for all inputs, or one for each by name"),
    "bounds": ({"upper": 1.0}, r"X\['inputs_embeds'\]\[\d+, \d, \d\]=.* lies outside its bounds \[-inf, 1\]"),
    "ends": ({"lower": 2.0, "upper": 1.0}, r"lower\['inputs_embeds'\]=2 is above upper"),
    "kind": ({"kind": {"inputs_embeds": "integer"}}, "kind is about columns of a table"),
    "direction": ({"direction": {"inputs_embeds": "left"}}, r"direction\['inputs_embeds'\]='left' is not known"),
    "list": ({"frozen": "inputs_embeds"}, "frozen='inputs_embeds' must be a list of inputs"),
    "outliers": ({"outliers": "drop"}, "outliers='drop' is not known"),
}


@pytest.mark.parametrize("kind", BAD_SPACES)
def test_bad_spaces_of_inputs_get_one_sentence(kind: str) -> None:
    said, words = BAD_SPACES[kind]
    with pytest.raises(tp.InputError, match=words):
        tp.stability(NET, X, Y, 0.7, space=tp.Space(**said))


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ("sd", r"scale='sd' is not known; .*as \{'inputs_embeds': 0\.1\}"),
        ({"mask": 2.0}, "scale names 'mask', which is no input"),
        ({"inputs_embeds": 0.0}, r"scale\['inputs_embeds'\]=0\.0 must be a positive number"),
    ],
)
def test_bad_scales_of_inputs_get_one_sentence(scale: Any, words: str) -> None:
    with pytest.raises(tp.InputError, match=words):
        tp.stability(NET, X, Y, 0.7, scale=scale)


@pytest.mark.parametrize("model", [([1.0] * 4, 0.0), lambda rows: rows], ids=["linear", "function"])
def test_only_a_module_takes_a_mapping(model: Any) -> None:
    with pytest.raises(
        tp.InputError, match=r"X is a mapping, .* and the model is none; pass a table, as pandas\.DataFrame\(X\)"
    ):
        tp.stability(model, X, Y, 0.7)


def test_outputs_that_look_like_probabilities_warn_and_spaces_are_not_inferred() -> None:
    class Sure(Attention):
        def forward(self, inputs_embeds: Tensor, attention_mask: Tensor) -> Tensor:
            return super().forward(inputs_embeds, attention_mask).softmax(1)

    with pytest.warns(tp.OutputWarning, match="pass it without its softmax"):
        tp.profile(Sure().eval(), X, Y, loss="cross_entropy", restarts=0)
    assert "Space.infer reads tables" in str(refusal(lambda: tp.Space.infer(X)))


@pytest.mark.parametrize(
    ("y", "words"), [("label", "y='label' names a column, and X is a dict"), (Y[:5], "y has 5 values but X has 24 rows")]
)
def test_labels_that_do_not_fit_get_one_sentence(y: Any, words: str) -> None:
    assert words in str(refusal(lambda: tp.stability(NET, X, y, 0.7)))


def test_attention_that_drops_in_train_mode_is_refused() -> None:
    class Dropping(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attend, self.out = nn.MultiheadAttention(WIDTH, 1, dropout=0.2, batch_first=True), nn.Linear(WIDTH, CLASSES)

        def forward(self, inputs_embeds: Tensor) -> Tensor:
            found: Tensor = self.out(self.attend(inputs_embeds, inputs_embeds, inputs_embeds)[0].mean(1))
            return found

    with pytest.raises(tp.InputError, match=r"MultiheadAttention \(attend\) in train mode"):
        tp.stability(Dropping(), {"inputs_embeds": EMBEDS}, Y, 0.7)
    tp.profile(Dropping().eval(), {"inputs_embeds": EMBEDS}, Y, restarts=0)
