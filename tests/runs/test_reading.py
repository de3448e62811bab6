"""Logs that the real tools wrote, and tables, joined; what each of them says is worked out a second time from their bytes."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tippingpoint as tp
from real_data import real_data
from refusals import refusal

LOGS = Path(__file__).parent / "logs"
HARNESS = LOGS / "harness" / "dummy-small"
INSPECT = LOGS / "inspect"


def sample_file(task: str) -> Path:
    (path,) = HARNESS.glob(f"samples_{task}_2*.jsonl")
    return path


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


CAPITALS = [sample_file(task) for task in ("capitals", "capitals_polite", "capitals_shout")]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The sample files of the three wordings, to be damaged."""
    for path in CAPITALS:
        shutil.copy(path, tmp_path)
    return tmp_path


@pytest.mark.parametrize("metric", ["acc", "acc_norm"])
def test_sample_files_of_the_harness(metric: str) -> None:
    runs = tp.read_runs(CAPITALS, metric=metric)
    table = runs.table.set_index(["sample", "variant"])
    assert len(table) == 15
    for path in CAPITALS:
        task = path.name.partition("_2026")[0].removeprefix("samples_")
        for record in records(path):
            line = table.loc[(record["doc_id"], task)]
            assert line["loss"] == 1.0 - record[metric]
            assert line["text"] == record["arguments"]["gen_args_0"]["arg_0"]
            likeliest = int(np.argmax([float(reply[0][0]) for reply in record["resps"]]))
            assert line["answer"] == record["doc"]["cities"][likeliest]
            if metric == "acc":
                assert record["acc"] == float(likeliest == record["doc"]["right"])
    assert runs.original == "capitals"
    assert runs.models == ["dummy-small"]
    assert (table.loc[(slice(None), "capitals"), "cost"] == 0.0).all()
    polite = table.loc[
        (0, "capitals_polite")
    ]  # "Please tell me, what is the capital of France?\nAnswer:" against "What is ..."
    assert polite["cost"] == 4 / 10
    assert polite["original"] == table.loc[(0, "capitals"), "text"]


def test_the_stability_of_a_log_is_that_of_the_table_written_by_hand() -> None:
    profile = tp.read_runs(CAPITALS, cost={"capitals_polite": 1.0, "capitals_shout": 2.0}).profile()
    assert isinstance(profile, tp.Profile)
    wrong = {path.name.partition("_2026")[0]: [1 - r["acc"] for r in records(path)] for path in CAPITALS}
    least = [
        0.0 if now else 1.0 if polite else 2.0 if shout else np.inf for now, polite, shout in zip(*wrong.values(), strict=True)
    ]
    cheapest = sorted(cost for cost in least if 0.0 < cost < np.inf)
    assert profile.risk == np.mean([cost == 0.0 for cost in least])
    one_more = profile.risk + 0.2
    assert profile.stability(one_more, theta1=1.0, theta2=np.inf).value == pytest.approx(cheapest[0] / 5)


def test_a_filter_has_to_be_chosen_and_what_it_finds_no_answer_in_is_missing() -> None:
    path = sample_file("spelling")
    assert "the filters 'strict', 'loose'; say filter='strict'" in str(refusal(lambda: tp.read_runs(path)))
    assert "its filters are 'strict', 'loose'" in str(refusal(lambda: tp.read_runs(path, filter="wide")))
    loose = tp.read_runs(path, filter="loose", original="spelling")
    assert loose.table["loss"].tolist() == [1.0 - r["exact_match"] for r in records(path) if r["filter"] == "loose"]
    assert loose.dropped == {"of the filter 'strict', where 'loose' is taken": 5}
    strict = tp.read_runs(path, filter="strict")
    assert strict.table["loss"].isna().all()
    assert strict.missing == {"the filter found no answer": 5}
    assert "5 outcomes, 100% of the runs: 5 the filter found no answer" in str(strict)


def test_logs_of_inspect() -> None:
    runs = tp.read_runs(INSPECT / "json")
    table = runs.table.set_index(["sample", "variant"])
    for path in (INSPECT / "json").glob("*.json"):
        log = json.loads(path.read_text(encoding="utf-8"))
        for sample in log["samples"]:
            line = table.loc[(sample["id"], log["eval"]["task"])]
            assert line["loss"] == {"C": 0.0, "I": 1.0}[sample["scores"]["match"]["value"]]
            assert line["loss"] == float(sample["output"]["choices"][0]["message"]["content"] != sample["target"])
            assert line["text"] == sample["messages"][0]["content"]
    assert table.loc[("France", "capitals_polite"), "text"] == "Please tell me: What is the capital of France?"
    assert table.loc[("France", "capitals_polite"), "cost"] == 3 / 9
    assert runs.models == ["mockllm/small"]


def test_runs_of_inspect_that_failed_or_have_no_grade_are_missing() -> None:
    path = INSPECT / "odd" / "capitals-failing.json"
    runs = tp.read_runs(path)
    assert runs.missing == {"RuntimeError('the connection was lost')": 1, "no answer that could be judged": 1}
    assert runs.table.set_index("sample")["loss"].to_dict() == pytest.approx(
        {"France": 0.0, "Japan": 0.0, "Norway": 0.0, "Peru": np.nan, "Kenya": np.nan}, nan_ok=True
    )
    profile = runs.profile()
    assert isinstance(profile, tp.Profile)
    bounded = profile.stability(0.5, theta1=float("inf"), theta2=1.0)
    assert bounded.lower < bounded.upper, "whatever was not graded may be right or wrong"
    assert runs.filled(1.0).profile().risk == pytest.approx(0.4)  # type: ignore[union-attr]
    left = runs.without_missing()
    assert len(left.table) == 3
    assert left.dropped == {"of a sample whose original has no outcome": 2}


def test_eval_logs_are_what_inspects_own_reader_says() -> None:
    log = pytest.importorskip("inspect_ai.log", reason="the extra inspect is not in this environment")
    runs = tp.read_runs([INSPECT / "eval", INSPECT / "json"])
    assert runs.models == ["mockllm/large", "mockllm/small"]
    table = runs.table.set_index(["model", "sample", "variant"])
    for path in [*(INSPECT / "eval").glob("*.eval"), *(INSPECT / "json").glob("*.json")]:
        held = log.read_eval_log(str(path))
        for sample in held.samples:
            line = table.loc[(held.eval.model, sample.id, held.eval.task)]
            assert 1.0 - line["loss"] == log_value(sample.scores["match"])
            assert line["text"] == "\n".join(each.text for each in sample.messages if each.role in ("system", "user"))
            assert line["answer"] == sample.output.completion
    profiles = runs.profile()
    assert isinstance(profiles, dict)
    assert {name: each.risk for name, each in profiles.items()} == {"mockllm/large": 0.0, "mockllm/small": 0.2}


def log_value(score: Any) -> float:
    from inspect_ai.scorer import value_to_float

    return float(value_to_float()(score.value))


def test_json_logs_read_with_and_without_inspect_are_the_same() -> None:
    pytest.importorskip("inspect_ai", reason="the extra inspect is not in this environment")
    from tippingpoint.runs import inspect_logs
    from tippingpoint.runs.outcomes import Choice

    for path in INSPECT.rglob("*.json"):
        theirs = inspect_logs.read_inspect(path, Choice()).outcomes
        document = inspect_logs.load_json(path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(inspect_logs, "load", lambda _, document=document: document)
            assert inspect_logs.read_inspect(path, Choice()).outcomes == theirs


def test_epochs_of_inspect_are_repeats_and_count_by_their_mean() -> None:
    pytest.importorskip("inspect_ai", reason="the extra inspect is not in this environment")
    runs = tp.read_runs(INSPECT / "odd" / "capitals-twice.eval")
    assert runs.table.groupby("repeat").size().to_dict() == {0: 5, 1: 5}
    assert runs.profile().risk == pytest.approx(0.2)  # type: ignore[union-attr]


def test_an_eval_log_without_inspect_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.log", None)
    assert "pip install 'tippingpoint[inspect]'" in str(refusal(lambda: tp.read_runs(INSPECT / "eval" / "capitals.eval")))


LINES = pd.DataFrame(
    {
        "id": ["a", "a", "b", "b"],
        "wording": ["base", "polite", "base", "polite"],
        "llm": "m",
        "wrong": [0, 1, 0, 0],
        "prompt": ["who is it", "who is it please", "one\ntwo three", "one\ntwo please"],
        "topic": ["x", "x", "y", "y"],
    }
)
NAMED = {"sample": "id", "variant": "wording", "model": "llm", "loss": "wrong", "text": "prompt"}


@pytest.mark.parametrize("form", ["csv", "csv.gz", "jsonl", "parquet", "pandas", "polars"])
def test_tables_of_any_kind_with_columns_of_any_name(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"runs.{form}"
    given: Any = path
    if form.startswith("csv"):
        LINES.to_csv(path, index=False)
    elif form == "jsonl":
        LINES.to_json(path, orient="records", lines=True)
    elif form == "parquet":
        pytest.importorskip("pyarrow")
        LINES.to_parquet(path)
    else:
        given = LINES if form == "pandas" else pytest.importorskip("polars").from_pandas(LINES)
    runs = tp.read_runs(given, columns=NAMED, original="base")
    assert runs.table[["sample", "variant", "model", "loss", "cost", "topic"]].to_numpy().tolist() == [
        ["a", "base", "m", 0.0, 0.0, "x"],
        ["a", "polite", "m", 1.0, 0.25, "x"],
        ["b", "base", "m", 0.0, 0.0, "y"],
        ["b", "polite", "m", 0.0, 1 / 3, "y"],
    ]


def test_a_table_with_costs_is_taken_as_it_is() -> None:
    given = pd.DataFrame({"sample": [1, 1, 2, 2], "loss": [0, 1, 0, None], "cost": [0.0, 0.5, 0.0, 0.7]})
    runs = tp.read_runs(given)
    assert runs.cost_label == "as given"
    assert runs.missing == {"no loss in the table": 1}
    again = tp.read_runs(runs.table)
    pd.testing.assert_frame_equal(
        again.table[["sample", "variant", "loss", "cost"]], runs.table[["sample", "variant", "loss", "cost"]]
    )


def test_lines_of_two_models_and_repeats_are_kept_apart() -> None:
    both = pd.concat([LINES, LINES.assign(llm="n", wrong=1)])
    runs = tp.read_runs(both, columns=NAMED, original="base")
    profiles = runs.profile()
    assert isinstance(profiles, dict)
    assert {name: each.risk for name, each in profiles.items()} == {"m": 0.0, "n": 1.0}
    twice = tp.read_runs([LINES, LINES.assign(wrong=1)], columns=NAMED, original="base", repeats=True)
    assert twice.table["repeat"].tolist() == [0, 1] * 4
    assert twice.profile().risk == 0.5  # type: ignore[union-attr]


def test_of_two_that_cost_nothing_the_one_that_is_named_is_the_original() -> None:
    lines = pd.DataFrame({"sample": [1, 1, 1], "variant": ["a", "b", "c"], "loss": [0, 1, 1], "cost": [0.0, 0.0, 0.5]})
    runs = tp.read_runs(lines, original="b")
    assert runs.table[["variant", "loss", "cost"]].to_numpy().tolist() == [["b", 1.0, 0.0], ["c", 1.0, 0.5]]
    assert runs.dropped == {"of a variant that costs nothing, though it is not the original": 1}


def test_published_answers_of_four_models() -> None:
    path = real_data("llm/clinical_prompts.csv.gz") / "llm" / "clinical_prompts.csv.gz"
    runs = tp.read_runs(path, metric="correct", columns={"cost": "word_edit_norm"})
    answers = pd.read_csv(path)
    by_hand = answers.assign(loss=1 - answers["correct"], cost=answers["word_edit_norm"])
    expected = tp.profile_table(by_hand[["sample", "variant", "model", "loss", "cost"]], by="model")
    found = runs.profile()
    assert isinstance(found, dict)
    question: dict[str, Any] = {"risk": 0.7, "theta1": 1.0, "theta2": 0.25}
    assert {name: each.stability(**question).value for name, each in found.items()} == {
        name: each.stability(**question).value for name, each in expected.items()
    }


def test_what_is_left_out_is_counted_and_said() -> None:
    lines = pd.concat([LINES, LINES[:1].assign(id="c", wording="polite"), LINES[:1].assign(wording="same")])
    runs = tp.read_runs(lines, columns=NAMED, original="base")
    assert runs.dropped == {
        "of a sample whose original is not in the logs": 1,
        "of a variant that costs nothing, though it is not the original": 1,
    }
    lacking = tp.read_runs(LINES[:3], columns=NAMED, original="base")
    (note,) = lacking.notes
    assert note.startswith(
        "1 of the runs that others of their model have are not there (1 of the 2 samples of 'm' have none of 'polite')"
    )


def bad(copied: Path, name: str) -> Any:  # noqa: PLR0911  # one a case
    first = copied / CAPITALS[0].name
    if name == "another task":
        return lambda: tp.read_runs([*CAPITALS, sample_file("numbers")], original="capitals")
    if name == "cut off":
        first.write_bytes(first.read_bytes()[:-40])
        return lambda: tp.read_runs(copied)
    if name == "not JSON":
        first.write_text(first.read_text("utf-8").replace('{"doc_id": 2', '{"doc_id" 2'), "utf-8")
        return lambda: tp.read_runs(copied)
    if name == "twice":
        return lambda: tp.read_runs([*CAPITALS, CAPITALS[0]])
    if name == "which original":
        return lambda: tp.read_runs(CAPITALS[1:])
    if name == "no such original":
        return lambda: tp.read_runs(CAPITALS, original="base")
    if name == "no such metric":
        return lambda: tp.read_runs(CAPITALS, metric="f1")
    if name == "metric outside":
        first.write_text(first.read_text("utf-8").replace('"acc": 1.0', '"acc": 7.5'), "utf-8")
        return lambda: tp.read_runs(copied, metric="acc")
    return {
        "matched how": lambda: tp.read_runs(CAPITALS, match="names"),
        "two originals": lambda: tp.read_runs(
            pd.DataFrame({"sample": [1, 1], "variant": ["a", "b"], "loss": [0, 1], "cost": [0.0, 0.0]})
        ),
        "a dear original": lambda: tp.read_runs(
            pd.DataFrame({"sample": [1, 2], "variant": "a", "loss": [0, 1], "cost": [0.0, 0.1]}), original="a"
        ),
        "no original": lambda: tp.read_runs(pd.DataFrame({"sample": [1], "loss": [0], "cost": [0.3]})),
        "negative cost": lambda: tp.read_runs(pd.DataFrame({"sample": [1, 1], "loss": [0, 1], "cost": [0.0, -0.3]})),
        "loss of text": lambda: tp.read_runs(pd.DataFrame({"sample": [1], "loss": ["bad"], "cost": [0.0]})),
        "no column": lambda: tp.read_runs(LINES),
        "column of nothing": lambda: tp.read_runs(LINES, columns={**NAMED, "text": "words"}),
        "role of nothing": lambda: tp.read_runs(LINES, columns={**NAMED, "prompt": "prompt"}),
        "no price": lambda: tp.read_runs(CAPITALS, cost={"capitals_polite": 1.0}),
        "not there": lambda: tp.read_runs(copied / "nothing.jsonl"),
        "empty folder": lambda: tp.read_runs(copied.parent / "empty"),
        "columns of logs": lambda: tp.read_runs(CAPITALS, columns={"sample": "doc_id"}),
    }[name]


SENTENCES = {
    "another task": ".jsonl, line 1: sample 0 of 'numbers' is another than that of 'capitals' in ",
    "matched how": "match='names' is neither",
    "cut off": ", line 5 is cut off in the middle: the run that wrote it did not end; run it again, or say damaged='drop'",
    "not JSON": ", line 3 is not JSON (Expecting ':' delimiter); mend or delete that line.",
    "twice": "line 1 both hold sample 0 of variant 'capitals' and model 'dummy-small'; say repeats=True",
    "which original": "which of the variants 'capitals_polite', 'capitals_shout' is the original? Say original=",
    "no such original": "original='base' is none of the variants, which are 'capitals', ",
    "no such metric": "metric='f1' is not in the logs; their metrics are 'acc', 'acc_norm'.",
    "metric outside": "acc=7.5 of sample",
    "two originals": "two lines of cost 0, so two originals ('a', 'b'); keep one, give the other its cost, or say original='a'",
    "a dear original": "the original, 'a', costs 0.1; the original of every sample costs 0.",
    "no original": "table has no line of cost 0, so no original; add every sample as it is, with cost 0.",
    "negative cost": "cost=-0.3 is below 0",
    "loss of text": "loss='bad' must be a number",
    "no column": "has no column for the sample; its columns are 'id', ",
    "column of nothing": "has no column 'words' for the text",
    "role of nothing": "columns={'prompt': ...}: a column can be sample, ",
    "no price": "cost has no price of 'capitals_shout'; its prices are of 'capitals_polite'.",
    "not there": "nothing.jsonl is not there",
    "empty folder": "holds no log",
    "columns of logs": "is of tables",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_what_is_wrong_with_logs_is_said_in_a_sentence(copied: Path, name: str) -> None:
    (copied.parent / "empty").mkdir(exist_ok=True)
    before = {path: path.read_bytes() for path in copied.iterdir()}
    call = bad(copied, name)
    held = {path: path.read_bytes() for path in copied.iterdir()}
    assert SENTENCES[name] in str(refusal(call))
    assert {path: path.read_bytes() for path in copied.iterdir()} == held
    assert set(held) == set(before)


def test_a_line_that_was_cut_off_can_be_left_out_and_is_counted(copied: Path) -> None:
    bad(copied, "cut off")
    runs = tp.read_runs(copied, damaged="drop", model="m")
    assert runs.dropped == {"cut off in the middle of the line": 1, "of a sample whose original is not in the logs": 2}
    assert sorted(runs.table["sample"].unique()) == [0, 1, 2, 3]


def test_errors_name_the_line_of_a_csv_file_whose_texts_have_several(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    LINES.assign(cost=[0.0, 0.2, 0.0, -0.2]).to_csv(path, index=False)
    assert f"{path}, line 6: cost=-0.2 is below 0" in str(refusal(lambda: tp.read_runs(path, columns=NAMED)))


def test_samples_can_be_matched_by_their_ids_alone() -> None:
    """As where the documents were varied themselves: the options of each in another order, say."""
    runs = tp.read_runs([CAPITALS[0], sample_file("numbers")], original="capitals", match="ids")
    assert runs.table.groupby("sample")["variant"].apply(list).tolist() == [["capitals", "numbers"]] * 5


def test_several_texts_of_the_same_sample_in_one_dictionary() -> None:
    runs = tp.read_runs({"plain": CAPITALS[0], "loud": [CAPITALS[2]]}, original="plain")
    assert list(runs.table["variant"].unique()) == ["plain", "loud"]


DATE = "2026-01-31T10-00-00"


def harness(folder: Path, task: str, documents: list[str], results: Any = None, **line: Any) -> Path:
    """A sample file as the harness writes it, and perhaps the results file beside it; values of a line may be lists."""
    folder.mkdir(exist_ok=True)
    path = folder / f"samples_{task}_{DATE}.jsonl"
    lines = []
    for k, document in enumerate(documents):
        record = {"doc_id": k, "doc": {"q": document}, "target": "0", "resps": [["."]], "filter": "none", "metrics": ["acc"]}
        record |= {"arguments": {"gen_args_0": {"arg_0": f"{task} {document}"}}, "doc_hash": f"hash of {document}", "acc": 1.0}
        record |= {name: value[k] if isinstance(value, list) and name != "metrics" else value for name, value in line.items()}
        lines.append({name: value for name, value in record.items() if value is not None})
    path.write_text("".join(json.dumps(record) + "\n" for record in lines), encoding="utf-8")
    if results is not None:
        (folder / f"results_{DATE}.json").write_text(json.dumps(results), encoding="utf-8")
    return path


FALSE: dict[str, Any] = {
    "by task": {"higher_is_better": {"tox": {"tox": False}, "tox_b": {"tox": False}}},
    "by filter": {"higher_is_better": {"tox": {"tox,none": False}, "tox_b": {"tox": {"none": False}}}},
    "in the configuration": {
        "configs": {task: {"metric_list": [{"metric": "tox", "higher_is_better": False}]} for task in ("tox", "tox_b")}
    },
}


@pytest.mark.parametrize("form", FALSE)
def test_the_loss_of_a_metric_of_which_lower_is_better_is_the_metric(tmp_path: Path, form: str) -> None:
    (tmp_path / "m").mkdir()
    other = {"higher_is_better": {"tox": {"tox": True}, "tox_b": {"tox": True}}}
    (tmp_path / "m" / "results_2025-01-31T10-00-00.json").write_text(json.dumps(other), encoding="utf-8")
    for task, scores in (("tox", [0.0, 0.0, 0.25]), ("tox_b", [0.0, 1.0, 0.5])):
        harness(tmp_path / "m", task, ["a", "b", "c"], FALSE[form], metrics=["tox"], tox=scores, acc=None)
    runs = tp.read_runs(tmp_path)
    assert runs.table.groupby("variant")["loss"].mean().to_dict() == {"tox": 0.25 / 3, "tox_b": 0.5}
    assert runs.loss_label == "tox, of which lower is better"
    assert not runs.notes
    turned = tp.read_runs(tmp_path, higher_is_better=True)
    assert turned.loss_label == "1 - tox"
    assert turned.notes == ("higher_is_better=True is against what the logs say of 'tox'",)


def test_a_direction_that_is_only_assumed_is_noted(tmp_path: Path) -> None:
    for task in ("tox", "tox_b"):
        harness(tmp_path, task, ["a", "b"], {"higher_is_better": {"tox": {"acc": None}}})
    runs = tp.read_runs(tmp_path)
    (note,) = runs.notes
    assert note.startswith("the logs do not say whether a higher 'acc' is better, so higher is assumed to be better; set")
    assert note.endswith("set higher_is_better=False (--lower-is-better) if not")
    assert tp.read_runs(tmp_path, higher_is_better=False).table["loss"].tolist() == [1.0] * 4
    assert not tp.read_runs(tmp_path, higher_is_better=True).notes
    (tmp_path / f"results_{DATE}.json").write_text(json.dumps({"higher_is_better": {"tox": {"acc": False}}}), encoding="utf-8")
    half = tp.read_runs(tmp_path)
    assert half.loss_label == "acc, of which lower is better"
    assert half.notes[0].startswith("1 of the 2 logs do not say whether a higher 'acc' is better, so lower is assumed")
    both = {"higher_is_better": {"tox": {"acc": False}, "tox_b": {"acc": True}}}
    (tmp_path / f"results_{DATE}.json").write_text(json.dumps(both), encoding="utf-8")
    assert "is better when it is higher in some logs" in str(refusal(lambda: tp.read_runs(tmp_path)))


@pytest.mark.parametrize("known", ["doc_hash", "doc"])
def test_documents_in_another_order_are_matched_by_document(tmp_path: Path, known: str) -> None:
    documents = [f"document {k}" for k in (0, 1, 2, 1, 3)]
    turned = [documents[k] for k in (3, 4, 0, 2, 1)]
    lacks = {"doc_hash": None} if known == "doc" else {"doc": None}
    harness(tmp_path, "t", documents, **lacks)
    harness(tmp_path, "t_polite", [*turned, "document 9"], **lacks)
    runs = tp.read_runs(tmp_path)
    table = runs.table.pivot_table(index="sample", columns="variant", values="text", aggfunc="first")
    assert [text.removeprefix("t ") for text in table["t"]] == documents
    assert [text.removeprefix("t_polite ") for text in table["t_polite"]] == documents
    assert any("holds its documents in another order than the log of 't'" in note for note in runs.notes)
    assert runs.dropped == {"of a sample whose original is not in the logs": 1}
    trusted = tp.read_runs(tmp_path, match="ids").table
    assert trusted[trusted["variant"] == "t_polite"]["text"][0:1].tolist() != ["t_polite document 0"]


def test_other_documents_of_the_same_ids_and_targets_are_refused(tmp_path: Path) -> None:
    harness(tmp_path, "t", ["a", "b"])
    harness(tmp_path, "t_polite", ["c", "d"])
    refused = str(refusal(lambda: tp.read_runs(tmp_path)))
    assert "sample 0 of 't_polite' is another than that of 't' in " in refused
    assert "(another document); give logs of one task, or say match='ids' (--match ids)" in refused
    assert len(tp.read_runs(tmp_path, match="ids").table) == 4


def test_documents_that_nobody_can_compare_are_noted(tmp_path: Path) -> None:
    for task in ("t", "t_polite"):
        harness(tmp_path, task, ["a", "b"], doc=None, doc_hash=None)
    assert tp.read_runs(tmp_path).notes[-1] == (
        "the logs hold no documents, and one target for all samples: samples are matched by their ids unchecked"
    )


@pytest.mark.parametrize("names", ["mmlu_polite_{}", "mmlu_{}_polite", "{}_in_other_words"])
@pytest.mark.parametrize("known", [True, False])
def test_subtasks_of_a_benchmark_are_told_apart(tmp_path: Path, names: str, known: bool) -> None:  # noqa: FBT001
    """Every subtask counts its documents from 0."""
    parts = ("high_school_biology", "high_school_physics", "virology")
    lacks: dict[str, Any] = {} if known else {"doc_hash": None, "doc": None}
    logs: dict[str, list[Path]] = {"original": [], "polite": []}
    for k, part in enumerate(parts):
        documents = [f"{part} {i}" for i in range(2)]
        logs["original"].append(harness(tmp_path, f"mmlu_{part}", documents, acc=[float(k == 0), 1.0], **lacks))
        logs["polite"].append(harness(tmp_path, names.format(part), documents, acc=[float(k == 1), 0.0], **lacks))
    logs["polite"].reverse()
    runs = tp.read_runs(logs)
    lines = runs.table.set_index(["sample", "variant"])["loss"]
    assert len(lines) == 12
    for k, part in enumerate(parts):
        name = part.removeprefix("mmlu_")
        assert lines[(f"{name}/0", "original")] == float(k != 0)
        assert lines[(f"{name}/0", "polite")] == float(k != 1)
        assert lines[(f"{name}/1", "polite")] == 1.0


def test_half_surrogates_and_numbers_beyond_all_bounds_end_in_an_answer_or_a_sentence(tmp_path: Path) -> None:
    harness(tmp_path, "t", ["\ud800", "b"], filtered_resps=["\udfff", "."])
    harness(tmp_path, "t_b", ["\ud800", "b"])
    assert "\\ud800" in tp.read_runs(tmp_path).table["text"][0]
    assert tp.read_runs(tmp_path).table["answer"][0] == "\\udfff"
    path = harness(tmp_path, "t_b", ["\ud800", "b"], acc=[0.0, 10**400])
    assert f"{path}, line 2: acc=1000" in str(refusal(lambda: tp.read_runs(tmp_path, metric="acc")))
    assert "none of the metrics" in str(refusal(lambda: tp.read_runs(tmp_path)))
    lines = tmp_path / "runs.jsonl"
    lines.write_text(json.dumps({"sample": 1, "loss": 0, "cost": 0, "repeat": 10**400}), encoding="utf-8")
    assert "repeat=1000" in str(refusal(lambda: tp.read_runs(lines)))


@pytest.mark.skipif(os.name != "posix", reason="of POSIX systems")
@pytest.mark.parametrize("name", ["samples_t.jsonl", "x.json", "b.eval"])
def test_what_is_no_file_in_a_folder_is_refused_and_not_opened(tmp_path: Path, name: str) -> None:
    harness(tmp_path, "t", ["a"])
    odd = tmp_path / name
    os.mkfifo(odd)
    assert f"{odd} is a pipe, not a file; remove it" in str(refusal(lambda: tp.read_runs(tmp_path)))
    assert f"{odd} is a pipe" in str(refusal(lambda: tp.read_runs(odd)))
    for target, sentence in (
        ("/dev/zero", "is a device"),
        (str(tmp_path / "gone"), "is a link to nothing"),
        (name, "Too many"),
    ):
        odd.unlink()
        odd.symlink_to(target)
        assert sentence in str(refusal(lambda: tp.read_runs(tmp_path)))


def packed(place: Path, kind: str) -> Path:
    """A file of a kilobyte or two that holds a megabyte."""
    path = place / f"runs.{kind}"
    line = json.dumps({"sample": 1, "loss": 0, "cost": 0, "text": "x" * 2**20})
    if kind == "csv.gz":
        path.write_bytes(gzip.compress(f"sample,loss,cost,text\n1,0,0,{'x' * 2**20}\n".encode()))
    elif kind == "cells.csv.gz":
        path.write_bytes(gzip.compress(b"sample,loss,cost\n" + b"1,0,0\n" * 20_000))
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(line.encode()))
    elif kind == "eval":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", " " * 2**20)
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        import pyarrow as pa

        text = pa.array(["x" * 2**10] * 1000) if kind == "text.parquet" else pa.array([[0.0] * 20_000] + [[]] * 999)
        columns = {
            "sample": pa.array(range(1000)),
            "loss": pa.array([0.0] * 1000),
            "cost": pa.array([0.0] * 1000),
            "text": text,
        }
        parquet.write_table(pa.table(columns), path, compression="zstd")
    return path


@pytest.mark.parametrize("kind", ["csv.gz", "cells.csv.gz", "jsonl.gz", "eval", "text.parquet", "list.parquet"])
def test_packed_logs_are_unpacked_within_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    path = packed(tmp_path, kind)
    for module in ("unpacking", "runs.plain", "runs.outcomes", "runs.reading", "files.archives"):
        monkeypatch.setattr(f"tippingpoint.{module}.FREE_BYTES", 2**18)
    monkeypatch.setattr("tippingpoint.runs.plain.FREE_CELLS", 10_000)
    for module in ("unpacking", "runs.plain", "files.archives"):
        monkeypatch.setattr(f"tippingpoint.{module}.EXPANSION", 8)
    refused = str(refusal(lambda: tp.read_runs(path)))
    assert "so that none can fill the memory" in refused
    assert any(f"{limit:,}" in refused for limit in (2**18, 10_000, 8 * path.stat().st_size, path.stat().st_size))


def test_packed_sample_files_are_read(tmp_path: Path) -> None:
    whole = tp.read_runs(CAPITALS, model="m")
    for path in CAPITALS:
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert tp.read_runs(tmp_path, model="m").table.equals(whole.table)
    lines = tmp_path / "lines.jsonl.gz"
    lines.write_bytes(gzip.compress(b'{"sample": 1, "loss": 0, "cost": 0}'))
    assert tp.read_runs(lines).table["loss"].tolist() == [0.0]
    lines.write_bytes(lines.read_bytes()[:-9])
    assert "cannot be unpacked" in str(refusal(lambda: tp.read_runs(lines)))
    tabs = tmp_path / "lines.tsv"
    tabs.write_text("sample\tloss\tcost\n1\t0\t0\n")
    assert tp.read_runs(tabs).table["cost"].tolist() == [0.0]


def test_an_empty_path_is_not_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for logs in ("", {"a": ""}):
        with pytest.raises(tp.InputError, match="is an empty path"):
            tp.read_runs(logs)
