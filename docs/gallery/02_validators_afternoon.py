"""A validator's afternoon, on the command line
============================================

You validate models; you did not build this one. A team sends a folder: a model, its successor, and a file of evaluation
data. You have an afternoon, a shell, and no wish to run their code. By five o'clock you owe a memo: how stable is the model,
is the successor better, and what should the build server check from now on?

Everything below is the command ``tippingpoint``. Each command takes the same options, and most of them go into one file.
"""

# %%
# What the team sent
# ------------------
# To have something to work on, this cell plays the team: it writes the folder. Skip it when you have a folder of your own.
# The data are real: measurements of tumours, as they ship with scikit-learn. The file is as spreadsheets write them, with
# semicolons and decimal commas.
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

import tippingpoint as tp

X, y = tp.datasets.breast_cancer()
X = X[[name for name in X if name.startswith("mean")]]
X_train, X_eval, y_train, y_eval = train_test_split(X, y, test_size=0.5, random_state=0)
pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
trees = XGBClassifier(n_estimators=40, max_depth=3, random_state=0).fit(
    X_train, y_train == "malignant"
)

folder = Path(tempfile.mkdtemp())
skops.io.dump(pipeline, folder / "model.skops")
trees.save_model(folder / "next.ubj")
X_eval.assign(diagnosis=y_eval).to_csv(folder / "evaluation.csv", sep=";", decimal=",", index=False)


# %%
# A page cannot hold a terminal, so this helper stands for one: it runs a line as your shell would, and prints the line, what
# comes back with long lines wrapped, and the exit code where that is not 0. It is nearly all the Python from here on.
def shell(line):
    program, *words = shlex.split(line)
    ours = [sys.executable, "-m", "tippingpoint", *words]
    command = ours if program == "tippingpoint" else [program, *words]
    settings = {"cwd": folder, "env": {**os.environ, "PYTHONUTF8": "1"}}
    done = subprocess.run(  # noqa: S603  # lines of this page only
        command, check=False, capture_output=True, encoding="utf-8", **settings
    )
    print("$ " + " \\\n    ".join(textwrap.wrap(line, 70, break_on_hyphens=False)))
    for text in (done.stdout + done.stderr).splitlines():
        print(text if "  " in text else textwrap.fill(text, 78, break_long_words=False))
    print(f"[exit code {done.returncode}]\n" if done.returncode else "")


shell("ls")
shell("head -n 2 evaluation.csv")

# %%
# Half past one: the first number
# -------------------------------
# Loading a ``.skops`` file runs no code of the team's. (A pickle would, and is refused unless you say ``--trust``.)
# The threshold is an error rate at which somebody would have to act. You settle on one wrong answer in four.
shell(
    "tippingpoint evaluate --model model.skops --data evaluation.csv --target diagnosis --risk 0.25"
)

# %%
# The number came, with a hint: the columns have different units, so a move of "one" means something else in each. You will
# measure in standard deviations. You also see that semicolons and decimal commas were recognised, and that this was said.
#
# What you settled goes into a file. It is part of the memo: whoever repeats your work starts from it.
(folder / "run.toml").write_text(
    """\
data = "evaluation.csv"
target = "diagnosis"
scale = "std"
risk = 0.25
theta1 = 1.0
theta2 = 0.25
""",
    encoding="utf-8",
)
shell(
    "tippingpoint evaluate --config run.toml --model model.skops --sensitive sensitive.csv --json result.json"
)

# %%
# For a linear model the two bounds of the certificate agree to rounding. It is proved that no cheaper change exists, and the
# change that attains the number is in your hands: ``sensitive.csv`` opens in a spreadsheet. The column ``mass`` sums to one.
shell("head -n 3 sensitive.csv")

# %%
# Two o'clock: which measurement
# ------------------------------
# The stability when one measurement alone may move, for each of them, the most sensitive first.
shell("tippingpoint features --config run.toml --model model.skops")

# %%
# Half past two: is one threshold enough?
# ---------------------------------------
# Somebody in the committee will ask why one in four. A curve answers before they do.
shell(
    "tippingpoint curve --config run.toml --model model.skops --risks 0.1,0.15,0.2,0.25,0.3,0.4 --json curve.json"
)

# %%
# A picture for the memo, from the file that was just written: the JSON is all that it takes.
tp.Sweep.from_json((folder / "curve.json").read_text(encoding="utf-8")).plot()

# %%
# Three o'clock: the successor
# ----------------------------
# The team is proud of ``next.ubj``, a gradient boosting. Its file knows classes by number only, so you say which label each
# number stands for. The same rows are given to both, so that errors are paired.
shell(
    "tippingpoint compare --config run.toml --model now=model.skops --model next=next.ubj --classes benign,malignant"
    " --json comparison.json"
)

# %%
# The last line is the verdict. It is decided only where the difference exceeds both the sampling error and the room between
# bounds; otherwise it says what is missing. Error rates alone do not tell it.
#
# Four o'clock: a gate for the build
# ----------------------------------
# From now on the build server shall refuse a model that is much less stable than today's. Half of today's number leaves room
# for the sampling error. ``--fail-below`` judges the *certified lower bound*: a number that was merely searched for does not
# pass.
shell(
    "tippingpoint evaluate --config run.toml --model next.ubj --classes benign,malignant --fail-below 0.01 --quiet"
)
shell(
    "tippingpoint evaluate --config run.toml --model next.ubj --fail-below 0.01 --target diagnose --quiet"
)

# %%
# The successor fails the gate: 1. The second question was wrong: 2. A build that tells the two apart does not take a misspelt
# column for an unstable model. The present model passes, silently, with 0: see the next command. An interrupted search exits
# with 130, and passes no gate.
#
# Half past four: the page for those who were not there
# -----------------------------------------------------
# ``report`` writes one page that needs no network: the answer in words, what it can be held against, who is sensitive, the
# most sensitive rows before and after, and fingerprints of model and data. The ending chooses: ``.html`` to read and send,
# ``.md`` for a repository, as here.
shell(
    "tippingpoint report --config run.toml --model model.skops --fail-below 0.01 --report memo.md --quiet"
)
shell("sed -n 9,24p memo.md")

# %%
# Five o'clock: the memo
# ----------------------
# Every number of it comes from the files above.
import json

result = tp.StabilityResult.from_json((folder / "result.json").read_text(encoding="utf-8"))
verdict = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))["verdicts"][0]
low, high = result.interval()
known = "exact" if result.exact else f"certified from below by {result.lower:.4f}"
moving = result.corruption_excess / (result.risk - result.current_risk)
print(f"""\
1. Question. What must change in evaluation.csv before {result.risk:.0%} of the answers are wrong?
   {result.current_risk:.1%} are wrong now. Prices and units are in run.toml; they are part of every number below.
2. Answer. {result.value:.4f}, {known}; between {low:.4f} and {high:.4f}
   for the population that the {result.samples} rows were drawn from (95 %).
3. Kind. Moving makes {moving:.0%} of the excess risk, reweighting the rest.
4. Successor. {verdict["sentence"]}
5. Gate. --fail-below 0.01 in the build, on the certified lower bound.
6. Limits. A worst case at these prices, not a forecast; nothing here says how likely it is.
   Rows that are not in the file were not looked at. memo.md holds the rest, with fingerprints
   of what was judged.""")

# %%
# Next: :doc:`/how-to/gate-a-build` for the build server, :doc:`/how-to/model-files` for what may be loaded from strangers.

shutil.rmtree(folder)

# sphinx_gallery_thumbnail_number = 1
