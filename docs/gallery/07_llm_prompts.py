"""Language models: what a rewording costs, and who is most stable
===============================================================

Four language models answer medical questions, each in five wordings. Which of them is most stable, and is that decided? Which
wording breaks whom? Two things mislead a quick reader of such a table: some answers are no answers, and a model that is often
wrong has fewer right answers to lose. This page takes both apart.

:doc:`05_table_of_alternatives` is the introduction to such tables, and :doc:`09_evidence_and_instructions` goes on to costs of
other kinds and to losses that are not 0 or 1.
"""

# %%
# The answers
# -----------
# They are real where their files are on the machine: published by others, condensed, and scored anew where the scoring misread
# them. Where they are not, the script makes up tables of the same form and says so. Then names and numbers below mean nothing
# beyond how to read them.
import os
import tempfile
import textwrap
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import tippingpoint as tp

WORDINGS = ["original", "formal", "simplified", "roleplay", "direct"]


def made_up(questions=600):
    """The same columns, from a random number generator."""
    rng = np.random.default_rng(0)
    skill = {"made-up A": 0.3, "made-up B": 0.1, "made-up C": 0.0, "made-up D": -0.2}
    names = [f"made-up-{i:03}" for i in range(questions)]
    table = pd.MultiIndex.from_product(
        [names, WORDINGS, skill], names=["sample", "variant", "model"]
    )
    shape = (questions, len(WORDINGS), len(skill))
    share = rng.uniform(0.03, 0.4, (questions, 1)) * [0.0, 1.0, 0.8, 1.2, 1.3]
    meaning = 0.2 * share * rng.uniform(0.5, 1.5, share.shape)
    score = np.array(list(skill.values())) - rng.normal(size=(questions, 1, 1))
    score = score + 2 * share[:, :, None] * rng.normal(size=shape)
    unread = rng.random(shape) < np.array([0.01, 0.02, 0.02, 0.15, 0.04])[:, None]
    costs = {"word_edit_norm": share, "sem_dist": meaning}
    costs = {name: np.repeat(cost.ravel(), len(skill)) for name, cost in costs.items()}
    right = ((score > 0) & ~unread).ravel().astype(int)
    return table.to_frame(index=False).assign(**costs, parsed=1 - unread.ravel(), correct=right)


folder = Path(os.environ.get("TIPPINGPOINT_DATA", "../../../shared/data"))
file = folder / "llm" / "clinical_prompts.csv.gz"
if file.exists():
    clinical = pd.read_csv(file)
    print("Real answers of real models.")
else:
    clinical = made_up()
    print(f"A MADE-UP table, as llm/{file.name} is not here.")
    print("Set TIPPINGPOINT_DATA to the folder that it is in.")
clinical["wrong"], clinical["unread"] = 1 - clinical["correct"], 1 - clinical["parsed"]
for kind in ("wrong", "unread"):
    shares = 100 * clinical.pivot_table(index="model", columns="variant", values=kind)[WORDINGS]
    print(f"\nper cent {kind}\n{shares.round(1).to_string()}")

# %%
# *Unread* are answers in which no option was found: they were cut after ten tokens, and a model told to play the doctor may not
# have come to the point by then. To count them as wrong measures manners and medicine in one number. So they are missing here
# (NaN), and by default a missing loss may be anything from 0 to 1.
#
# Who is most stable
# ------------------
# ``cost`` is the share of the prompt's words that differ, at a price of ``theta1=1``. To ask more of the hard questions costs
# ``theta2=0.25`` a nat. A model counts as broken at 70 % errors.
runs = clinical[["model", "sample", "variant"]].assign(
    cost=clinical["word_edit_norm"], loss=clinical["wrong"].where(clinical["parsed"] == 1)
)
question = {"risk": 0.7, "theta1": 1.0, "theta2": 0.25}
comparison = tp.compare(tp.profile_table(runs, by="model"), **question)


def verdicts(comparison):
    """Of each pair, at a level that makes it 95 % for all of them together."""
    pairs = list(combinations(comparison.to_frame()["model"], 2))
    for one, other in pairs:
        verdict = comparison.verdict(one, other, level=1 - 0.05 / len(pairs))
        print(textwrap.fill(str(verdict), 79, subsequent_indent="    "))


print(comparison.to_frame().drop(columns="status").round(4).to_string(index=False))
verdicts(comparison)

# %%
# From ``lower`` to ``upper`` is what the unread answers leave open. A verdict needs more: what is certain of the difference,
# from the lower bound of the one to the upper bound of the other, must exceed the sampling error. Four models are six pairs,
# and with six verdicts at 95 % each, one may well be wrong, so the level is raised. All bounds are exact over the five
# wordings of the table, and nothing is said of a sixth.
#
# The questions come from three sources. Do not pass those as ``group=``: groups are drawn at random from many, and from three
# an error cannot be told. Where sources matter, ask each by itself.
#
# Other counts, another cost
# --------------------------
# ``missing=`` says what unread answers count as; ``"drop"`` pretends that nobody asked. And with the distance of *meanings* as
# cost, at a price that makes the average rewording cost the same, another change is small.
shown = {}
for rule in ("wrong", "drop", 0.0):
    profiles = tp.profile_table(runs, by="model", missing=rule)
    shown[f"missing={rule!r}"] = {n: p.stability(**question).value for n, p in profiles.items()}
mean = clinical.loc[clinical["variant"] != "original", ["word_edit_norm", "sem_dist"]].mean()
dear = question | {"theta1": mean["word_edit_norm"] / mean["sem_dist"]}
meant = tp.compare(tp.profile_table(runs.assign(cost=clinical["sem_dist"]), by="model"), **dear)
for end in ("lower", "upper"):
    shown[f"meanings, {end}"] = {name: getattr(r, end) for name, r in meant.results.items()}
print(pd.DataFrame(shown).T.round(4).to_string())

# %%
# Fewer right answers to lose
# ---------------------------
# A model that errs more now has a shorter way to 70 %, and the order above may be no more than that of the error rates. So
# give each a threshold of its own: ten points more than now, or a fifth of its right answers gone, the latter by rewording
# alone (``theta2`` infinite). Numbers for different thresholds answer different questions and have no verdict, and their
# errors do not know that the threshold was estimated on the same questions.
wrong = tp.profile_table(runs, by="model", missing="wrong")
for name, p in wrong.items():
    points = p.stability(risk=p.risk + 0.1, theta1=1.0, theta2=0.25)
    fifth = p.stability(risk=p.risk + 0.2 * (1 - p.risk), theta1=1.0, theta2=np.inf)
    told = [f"{r.value:.4f} ± {r.standard_error:.4f}" for r in (points, fifth)]
    print(f"{name:<16} {p.risk:.1%} now; ten points {told[0]}; a fifth {told[1]}")

# %%
# A comparison at one threshold needs models that begin at the same place. They do on the questions that *all* answer correctly
# in the original wording: all begin at no errors, with the same answers to lose. These questions are easier than most, and a
# right answer may still be a lucky guess, the more often the weaker the model.
first = clinical[clinical["variant"] == "original"]
everyone = first.groupby("sample")["correct"].min()
easy = runs[runs["sample"].isin(everyone[everyone == 1].index)]
fair = tp.compare(tp.profile_table(easy, by="model"), **question | {"risk": 0.2})
print(f"{easy['sample'].nunique()} questions that all answer correctly, to 20 % errors")
print(fair.to_frame().drop(columns="status").round(4).to_string(index=False))
verdicts(fair)

# %%
# Undecided does not mean equal: these questions are few. But as long as it is undecided, a lead at the fixed threshold may be
# one of right answers alone, and nobody has shown that the leader bears rewordings better. (An example is chosen, and the
# choice is part of the result. Before this page was written we looked at 10, 20 and 30 % on the real answers, and no pair was
# decided at any of them, nor at 95 % for each. At the fixed threshold five of the six pairs are decided at 95 % for each.)
#
# Which wording breaks whom
# -------------------------
# ``variation_stability`` allows one wording at a time. Here prompts may be reworded and no question is reweighted, so the
# number is the share of words to be changed, on average over all prompts, that loses three points; infinite where a wording
# never gets there. Two wordings are compared as two models are. With unread answers as wrong, and as if nobody had asked:
for rule in ("wrong", "drop"):
    lines = {}
    for name, p in tp.profile_table(runs, by="model", missing=rule).items():
        ranked = tp.variation_stability(p, risk=p.risk + 0.03, theta1=1.0, theta2=np.inf)
        cheapest, *others = ranked
        single = tp.Comparison({wording: ranked.result(wording) for wording in ranked})
        beaten = [w for w in others if single.verdict(w, cheapest, level=1 - 0.05 / 3).decided]
        lines[name] = {wording: ranked[wording].value for wording in WORDINGS[1:]}
        lines[name] |= {"cheapest": cheapest, "beats": f"{len(beaten)} of {len(others)}"}
    print(f"missing={rule!r}\n{pd.DataFrame(lines).T.to_string(float_format='{:.4f}'.format)}")

# %%
# ``beats`` counts the wordings than which the cheapest is decidedly cheaper; where that is none, there is no cheapest to speak
# of. Cheap is not far, either. At any cost, how many right answers does each wording lose, and how many of them are unread?
both = clinical.merge(first[["model", "sample", "correct"]], on=["model", "sample"])
lost = both[(both["correct_x"] == 0) & (both["correct_y"] == 1)]
_, axes = plt.subplots(1, len(wrong), figsize=(9, 2.8), layout="constrained", sharey=True)
for ax, name in zip(axes, wrong, strict=True):
    mine, below = lost[lost["model"] == name], 0
    for parsed, label, color in ((1, "wrong", "C0"), (0, "unread", "0.75")):
        counts = mine.loc[mine["parsed"] == parsed, "variant"].value_counts()
        points = 100 * counts.reindex(WORDINGS[1:], fill_value=0) / len(everyone)
        ax.bar(points.index, points, bottom=below, label=label, color=color)
        below = points
    ax.set_title(name, fontsize="medium")
    ax.tick_params("x", rotation=60)
axes[0].set_ylabel("right answers lost, points")
axes[0].legend(frameon=False, fontsize="small")

# %%
# Who has more right answers can lose more, here too. And a wording also wins answers back, which the averages at the top count
# and this picture does not: a perturbation takes from every wording what it can use.
#
# The decision
# ------------
# The report holds the comparison, the ranking of wordings, and which question goes where.
leader, second = comparison.to_frame()["model"].iloc[:2]
with tempfile.TemporaryDirectory() as place:
    ranked = tp.variation_stability(tp.profile_table(runs[runs["model"] == leader]), **question)
    told = {"comparison": comparison, "features": ranked, "model": leader}
    page = comparison.results[leader].report(f"{place}/prompts.html", **told)
    print(f"{page.name}: {page.stat().st_size / 1000:.0f} kB")
result = comparison.results[leader]
print(f"""To take {leader} to {result.risk:.0%} errors costs {result.lower:.4f} to {result.upper:.4f}, as unread
answers count; that is of these {result.samples} questions and {len(WORDINGS)} wordings, and a wording nobody
tried may be cheaper. Every answer was given once.""")
verdict = comparison.verdict(leader, second, level=1 - 0.05 / 6)
print(f"Ahead of {second}, the next: {'decided' if verdict.decided else 'undecided'}.")
from_none = [v.decided for name in fair.results for v in fair.verdicts(name)]
print(
    f"From the same right answers: {sum(from_none) // 2} of {len(from_none) // 2} pairs are decided."
)

# %%
# If users write the prompts, all of it is yours to bear; if the wording is fixed, choose one that reads well *and* is read.
# Next: :doc:`/how-to/noisy-answers` for answers that differ from run to run, :doc:`/how-to/llm-evaluations` for tables from
# logs.

# sphinx_gallery_thumbnail_number = 1
