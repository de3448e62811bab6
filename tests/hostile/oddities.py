"""What is put where something else is expected, on command lines and in files."""

from __future__ import annotations

from typing import Any

# fmt: off
NUMBERS = (
    "0", "-0", "-1", "1e308", "1e309", "-1e308", "inf", "-inf", "nan", "NaN", "1e-320", "5e-324", "0x10", "1_000",
    "１", "1,5", "", " ", "one", "0.4.1", "--", "-", "1e", "9" * 400, "0.5\n", "\x1b[31m", "½", "∞", "true", "[1]",
    "2", "0.999999", "1.0001",
)
"""Where a number is expected."""

NAMES = (
    "", " ", "age", "dose", "y", "heft", "ward", "AGE", "a,b", "a=b", "=1+1", "\u202eega", "\x1b[2J", "\ud800", "é",
    "😀" * 50, "x" * 5000, "..", "/", ".", "0", "nan", "None", "a\nb", "a\tb", "--data", "-", "[red]", "<script>", "`",
    "a\x00b", "%s", "{}",
)
"""Where a column, a feature or a label is."""

PATHS = (
    "missing.csv", "", ".", "/", "..", "/dev/null", "eval.csv/", "eval.csv/x", "a\x00b", "\x1b.csv", "\udcff.csv",
    "n" * 300, "d" * 5000, "model.json", "next.json", "eval.csv", "runs.csv", "run.toml", "space.toml", "junk.bin",
    "empty", "folder", "loop", "~", "-", "http:", "x:y", "os:getcwd", "vendor:box", "vendor:loud", "vendor:broken",
    "vendor:leaves", "vendor:missing", "vendor:number", "sys:exit", "a.pkl", "a.onnx", "a.skops", "a.pt2",
    "eval.parquet", "eval.csv.gz", "\u202egnp.csv", "no/such/folder/x.csv",
)
"""Where a file is read."""

OUTPUTS = (
    "-", "out.json", "out.html", "out.md", "out.csv", "", ".", "folder", "gone/x.json", "/dev/full", "/dev/null",
    "n" * 300, "loop", "a\x00.json", "model.json", "out.pdf", "\x1b[1m.html", "read/only.json", "/proc/x.md", "out",
    ".html", "x/../out.md",
)
"""Where one is written."""

WORDS = (
    "kl", "chi2", "cvar:0.5", "cvar", "cvar:", "cvar:2", "cvar:0", "KL", "zero_one", "logistic", "hinge", "squared",
    "pinball:0.9", "pinball:", "pinball:7", "absolute", "exact", "path", "std", "raw", "mad", "iqr", "score",
    "probability", "", "\x00", "x" * 999,
)
"""Where a choice is made."""

CELLS = (
    "", "nan", "inf", "-inf", "1e999", "9" * 400, "x", "=1+1", '"', '"a', "\x00", "\x1b[2J", "\u202e", "1;2", "true",
    "NA", "-0", "é", " ",
)
"""In a table."""

SCALARS: tuple[Any, ...] = (
    None, True, False, 0, -1, 1e+308, -1e+308, 5e-324, float("nan"), float("inf"), 10 ** 400, "", "x", "\x00",
    "\u202e", "\ud800", "age", [], {}, [[]], [1.0], [None], {"a": 1}, ["age", "age"], ["age"], [1.0, "x"],
    [1e+308, 1e+308], [float("nan"), 1.0], "9" * 5000,
)
"""In JSON."""

SPACES = (
    "frozen = 'age'", "frozen = ['gone']", "frozen = []", "frozen = ['age', 'dose']", "lower = {age = 'x'}",
    "lower = 1", "price = {age = -1}", "upper = {age = nan}", "lower = {age = 9}\nupper = {age = 1}", "price = 0",
    "price = {age = inf}", "infer = 3", "infer = true\nranges = 'x'", "switch = 1", "switch = {ward = {A = 1}}",
    "groups = {g = ['age', 'gone']}", "one_hot = true", "one_hot = [['age']]", "infer = true", "integers = ['age']",
    "integer = ['age']", "direction = {age = 'sideways'}", "x = [[[[", "a.b.c = 1", "[lower]\nage = []", "\x00",
    "= 1", "lower = {age = -1e308}",
)
"""As a space."""
# fmt: on

VALUES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("--model", "--linear", "--table", "--data", "--space", "--config", "--state"), PATHS),
    **dict.fromkeys(("--json", "--report", "--sensitive"), OUTPUTS),
    **dict.fromkeys(("--risk", "--mix", "--budget", "--theta1", "--theta2", "--fail-below", "--time-limit"), NUMBERS),
    **dict.fromkeys(("--calls", "--seed"), NUMBERS),
    **dict.fromkeys(
        ("--risks", "--mixes"), (*NUMBERS, "0.3,0.4", "0.4,nan", "0,1", "0.4,,0.5", ",", "1,inf", "0.3," * 50 + "0.3")
    ),
    **dict.fromkeys(("--target", "--weight", "--frozen", "--feature", "--gate-model", "--classes", "--trust"), NAMES),
    **dict.fromkeys(("--sample-column", "--loss-column", "--cost-column"), (*NAMES, "sample", "loss", "cost", "wording")),
    **dict.fromkeys(("--loss", "--divergence", "--scale", "--method", "--certify", "--output", "--on"), WORDS),
}
"""What every option may be given."""

FLAGS = ("--quiet", "--trust-pickle", "--help", "--version", "--bogus", "--", "-x", "extra", "--no-report", "--redraw")

DATA = ("--data", "eval.csv", "--target", "y")

SOUND = (
    ("evaluate", "--model", "model.json", *DATA, "--risk", "0.4"),
    ("evaluate", "--table", "runs.csv", "--risk", "0.4"),
    ("evaluate", "--config", "run.toml"),
    ("evaluate", "--model", "vendor:box", *DATA, "--risk", "0.4", "--calls", "400", "--output", "score"),
    ("features", "--model", "model.json", *DATA, "--risk", "0.4"),
    ("compare", "--model", "a=model.json", "--model", "b=next.json", *DATA, "--risk", "0.4"),
    ("curve", "--model", "model.json", *DATA, "--risks", "0.3,0.4"),
    ("curve", "--model", "model.json", *DATA, "--risk", "0.4", "--mixes", "0,0.5,1"),
    ("report", "--model", "model.json", *DATA, "--risk", "0.4"),
    ("evaluate", "--model", "model.json", *DATA, "--risk", "0.4", "--space", "space.toml"),
    ("reproduce", "income", "--data", "nowhere", "--out", "out"),
    ("completion", "bash"),
    ("demo", "--no-report", "--seed", "x"),
)
"""Command lines to spoil; most of them work."""

VENDOR = """
import sys

def box():
    return lambda rows: rows['age'] - 0.5 * rows['dose']

def loud():
    def score(rows):
        print('{"not": "the answer"}')
        return rows['age'] - 0.5 * rows['dose']
    return score

def broken():
    def score(rows):
        raise ZeroDivisionError('the model itself')
    return score

def leaves():
    sys.exit(0)

number = 3
"""
