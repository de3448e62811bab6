"""Writes the logs beside it with the real tools: lm_eval 0.4.13 (`python make_logs.py harness`), inspect_ai 0.3.90 (`inspect`).

Both run without a network: the harness with its dummy model on a local JSON task, Inspect with mockllm. Neither is in the
development environment; each wants one of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

CAPITALS = [
    ("France", ["Lyon", "Paris", "Nice"], 1),
    ("Peru", ["Lima", "Cusco", "Quito"], 0),
    ("Japan", ["Osaka", "Kyoto", "Tokyo"], 2),
    ("Kenya", ["Nairobi", "Mombasa", "Kampala"], 0),
    ("Norway", ["Bergen", "Oslo", "Tromsø"], 1),
]

WORDINGS = {
    "capitals": "What is the capital of {{country}}?\nAnswer:",
    "capitals_polite": "Please tell me, what is the capital of {{country}}?\nAnswer:",
    "capitals_shout": "WHAT IS THE CAPITAL OF {{country}}?\nANSWER:",
}


def harness() -> None:
    """Multiple choice in three wordings; one task of generated text with two filters, and one on other documents."""
    folder = HERE / "harness"
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        documents = [{"country": c, "cities": o, "right": k, "lol": "lol" if k else "no"} for c, o, k in CAPITALS]
        _write_lines(place / "capitals.jsonl", documents)
        _write_lines(place / "numbers.jsonl", [{"country": str(k), "cities": ["1", "2", "3"], "right": 2} for k in range(5)])
        for task, wording in WORDINGS.items():
            (place / f"{task}.yaml").write_text(_choice(task, place / "capitals.jsonl", wording), encoding="utf-8")
        (place / "numbers.yaml").write_text(_choice("numbers", place / "numbers.jsonl", "{{country}}"), encoding="utf-8")
        (place / "spelling.yaml").write_text(_generated(place / "capitals.jsonl"), encoding="utf-8")
        out = place / "out"
        for seed, task in enumerate((*WORDINGS, "numbers", "spelling")):
            command = ["-m", "lm_eval", "--model", "dummy", "--tasks", task, "--include_path", str(place), "--log_samples"]
            command += ["--seed", str(seed)]  # which the dummy answers by
            command += ["--model_args", "pretrained=dummy-small"]  # its name; the dummy itself takes none
            subprocess.run(
                [sys.executable, *command, "--output_path", str(out)], env={**os.environ, "HF_HUB_OFFLINE": "1"}, check=True
            )
        for path in sorted(out.rglob("*.json*")):
            target = folder / path.relative_to(out)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8").replace(name, ".")
            if path.name.startswith("results_"):  # only what says which model it was: the rest is about the machine
                kept = {
                    key: value for key, value in json.loads(text).items() if key in ("model_source", "model_name", "results")
                }
                text = json.dumps(kept, indent=1) + "\n"
            target.write_text(text, encoding="utf-8")


def _write_lines(path: Path, documents: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")


def _choice(task: str, data: Path, wording: str) -> str:
    return f"""task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: {json.dumps(wording)}
doc_to_choice: "{{{{cities}}}}"
doc_to_target: right
metric_list: [{{metric: acc}}, {{metric: acc_norm}}]
"""


def _generated(data: Path) -> str:
    return f"""task: spelling
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "Spell {{{{country}}}}:"
doc_to_target: lol
generation_kwargs: {{until: ["\\n"]}}
filter_list:
  - {{name: strict, filter: [{{function: regex, regex_pattern: "#### (.+)"}}, {{function: take_first}}]}}
  - {{name: loose, filter: [{{function: regex, regex_pattern: "(l.l)"}}, {{function: take_first}}]}}
metric_list: [{{metric: exact_match}}]
"""


def inspect() -> None:
    """Two models in three wordings, with a run that fails, one that is no answer, and repeated ones."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.scorer import Score, accuracy, match, scorer
    from inspect_ai.solver import Generate, TaskState, generate, prompt_template, solver

    folder = HERE / "inspect"
    shutil.rmtree(folder, ignore_errors=True)
    samples = [Sample(id=c, input=f"What is the capital of {c}?", target=o[k]) for c, o, k in CAPITALS]
    answers = {
        ("mockllm/small", "capitals"): ["Paris", "Lima", "Tokyo", "Mombasa", "Oslo"],
        ("mockllm/small", "capitals_polite"): ["Lyon", "Lima", "Tokyo", "Mombasa", "Oslo"],
        ("mockllm/small", "capitals_shout"): ["Paris", "Quito", "Kyoto", "Nairobi", "Bergen"],
        ("mockllm/large", "capitals"): ["Paris", "Lima", "Tokyo", "Nairobi", "Oslo"],
        ("mockllm/large", "capitals_polite"): ["Paris", "Lima", "Tokyo", "Nairobi", "Oslo"],
        ("mockllm/large", "capitals_shout"): ["Paris", "Lima", "Kyoto", "Nairobi", "Oslo"],
    }
    templates = {"capitals": "{prompt}", "capitals_polite": "Please tell me: {prompt}", "capitals_shout": "{prompt}!!!"}

    @solver  # type: ignore[untyped-decorator]
    def failing(fails: str) -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            if state.sample_id == fails:
                raise RuntimeError("the connection was lost")
            return state

        return solve

    @scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]
    def hesitant() -> Any:
        async def score(state: TaskState, target: Any) -> Score:
            text = state.output.completion
            return Score(value="N" if text == "?" else "C" if text == target.text else "I", answer=text)

        return score

    def run(model: str, task: str, texts: list[str], log_format: str, **settings: Any) -> None:
        solvers = [prompt_template(templates.get(task, "{prompt}")), *settings.pop("solvers", []), generate()]
        evaluate(
            Task(dataset=MemoryDataset(samples), solver=solvers, scorer=settings.pop("scorer", match()), name=task),
            model=get_model(model, custom_outputs=[ModelOutput.from_content(model, text) for text in texts]),
            log_dir=str(folder / settings.pop("into", log_format)),
            log_format=log_format,
            display="none",
            max_samples=1,
            max_connections=1,
            **settings,
        )

    for (model, task), texts in answers.items():
        run(model, task, texts, "eval" if "large" in model else "json")
    run("mockllm/odd", "capitals_failing", ["Paris", "Tokyo", "?", "Oslo"], "json", into="odd",
        solvers=[failing("Peru")], scorer=hesitant(), fail_on_error=False)  # fmt: skip
    run("mockllm/odd", "capitals_twice", ["Paris", "Lima", "Tokyo", "Lima", "Oslo"] * 2, "eval", into="odd", epochs=2)
    for path in folder.rglob("*.json"):  # events and times are no part of what is read, and most of the bytes
        log = json.loads(path.read_text(encoding="utf-8"))
        for each in log["samples"]:
            each["events"] = []
            each.get("error", {}).update({"traceback": "", "traceback_ansi": ""})
        path.write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")
    for path in sorted(folder.rglob("*.*")):
        path.rename(
            path.with_name("_".join(path.name.split("_")[1:-1]) + ("_small" if "small" in _text(path) else "") + path.suffix)
        )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.suffix == ".json" else ""


if __name__ == "__main__":
    {"harness": harness, "inspect": inspect}[sys.argv[1]]()
