"""Language models: a table of alternatives, and no model
======================================================

You asked several language models the same questions, each in several wordings, and wrote down who was right. The models are
elsewhere: no gradients, no weights, perhaps no access any more. The table is enough. One line says: this question, in this
wording, so many words away from the original, was answered wrongly (1) or not (0).

The page shows what the table must hold, what a rewording costs, how two models are compared question by question, and what
a table cannot tell.
"""

# %%
# The table
# ---------
# The answers are real where their file is on the machine: 600 medical questions in five wordings, answered by four open models
# of 2 to 7 billion parameters, as published by others and scored anew. Where it is not, the script makes up a table of the
# same form and says so. Then names and numbers below mean nothing beyond how to read them.
import os
import textwrap
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import tippingpoint as tp


def made_up(questions=400):
    """The same columns, from a random number generator."""
    rng = np.random.default_rng(0)
    wordings = {"original": 0, "simplified": 0.17, "formal": 0.19, "roleplay": 0.23, "direct": 0.24}
    lines = []
    for i in range(questions):
        hard, words = rng.normal(), rng.uniform(0.3, 1.7)
        for model, skill in {"made-up A": 0.6, "made-up B": 0.3, "made-up C": 0.0}.items():
            for wording, share in wordings.items():
                wrong = hard + rng.normal(0, 0.2 + 3 * share) * (0.5 + skill) > skill
                sample = f"{('exam', 'ward')[i % 2]}-{i:03d}"
                lines.append((sample, wording, model, share * words, 1 - int(wrong)))
    return pd.DataFrame(lines, columns=["sample", "variant", "model", "word_edit_norm", "correct"])


folder = Path(os.environ.get("TIPPINGPOINT_DATA", "../../../shared/data"))
file = folder / "llm" / "clinical_prompts.csv.gz"
if file.exists():
    answers = pd.read_csv(file)
    print("Real answers of real models.")
else:
    answers = made_up()
    print(f"A MADE-UP table, as llm/{file.name} is not here.")
    print("Set TIPPINGPOINT_DATA to the folder that it is in.")
runs = answers[["model", "sample", "variant"]].assign(
    cost=answers["word_edit_norm"], loss=1 - answers["correct"]
)
print(runs[runs["sample"] == runs["sample"].iloc[0]].head(6).to_string(index=False))
print(runs.pivot_table(index="model", columns="variant", values="loss").round(3).to_string())

# %%
# ``cost`` is the share of the prompt's words that were reworded, the original costs 0. You may choose another cost, such as a
# distance of meanings, and every number below changes with it: the cost says what you call a small change. Question and
# options are the same in all wordings; only what is said around them differs. The second table averages over questions, and
# averages hide what happens to single ones.
#
# What rewording can do
# ---------------------
# Take for every question the cheapest wording that is answered wrongly. How many questions are lost if the words may change by
# a given share?
models = list(runs["model"].unique())
least = runs[runs["loss"] == 1].groupby(["model", "sample"])["cost"].min()
shares = np.linspace(0, runs["cost"].max(), 60)
_, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for name in models:
    lost = [(least[name] <= share).sum() / runs["sample"].nunique() for share in shares]
    ax.step(shares, lost, label=name, where="post")
ax.set(xlabel="share of the words that may change, in every prompt", ylabel="error rate at worst")
ax.legend(frameon=False)

# %%
# The left end is the error rate as measured. The right end is the worst wording for every question: no choice among these
# wordings does worse.
#
# The stability
# -------------
# The picture lets every prompt change. A perturbation may do better: reword a few prompts, and ask more of the hard questions.
# ``theta1=1``: rewording all of every prompt would cost 1. ``theta2=0.25``: the price of a nat of reweighting.
profiles = tp.profile_table(runs, by="model")
question = {"risk": 0.7, "theta1": 1.0, "theta2": 0.25}
results = {name: profile.stability(**question) for name, profile in profiles.items()}
best = min(models, key=lambda name: results[name].current_risk)
result = results[best]
print(f"{best}\n{result}")

# %%
# Exact means: over the alternatives in the table. A wording that nobody tried is not in it, so for the model among *all*
# wordings this is an upper bound, and no more. It helps to see that: with fewer wordings the same model looks more stable, or
# as stable, never less.
kept = []
for wording in ("original", "simplified", "formal", "roleplay", "direct"):
    kept.append(wording)
    some = runs[(runs["model"] == best) & runs["variant"].isin(kept)]
    fewer = tp.profile_table(some).stability(**question)
    print(f"with {', '.join(kept):<50} {fewer.value:.4f}")

# %%
# Two models, question by question
# --------------------------------
# Samples are paired by what they are called, whatever their order in the table, so what is hard for both cancels.
others = [name for name in models if name != best]
comparison = tp.compare({name: profiles[name] for name in [best, *others]}, **question)
print(comparison)
_, ax = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
comparison.plot(ax)

# %%
# A fixed threshold mixes two things: a model that errs more now has a shorter way to go. Both belong to the question "when does
# it break". If you mean fragility alone, ask for the same *rise* from where each model is. These numbers answer different
# questions, with different thresholds, so ``compare`` would refuse them, and no verdict goes with them.
for name, profile in profiles.items():
    now = results[name].current_risk
    rise = profile.stability(risk=now + 0.1, theta1=1.0, theta2=0.25)
    told = f"{rise.value:.4f} ± {rise.standard_error:.4f}"
    print(f"{name:<16} from {now:.1%} to {now + 0.1:.1%}: {told}")

# %%
# Missing answers
# ---------------
# A run broke off, and the last questions were never put to one model. Comparing means would compare different questions.
gone = set(runs["sample"].unique()[-20:])
other = others[0]
broken = {
    best: runs[runs["model"] == best],
    other: runs[(runs["model"] == other) & ~runs["sample"].isin(gone)],
}
try:
    tp.compare(broken, **question)
except tp.InputError as error:
    print(textwrap.fill(f"refused: {error}", 78))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    partly = tp.compare(broken, common=True, **question)
print(textwrap.fill(f"warned: {said[0].message}", 78))
print(partly.verdict(other))

# %%
# ``common=True`` leaves out what one of them lacks, and says so. Whether the questions that are left are like the others is for
# you to judge. A single *wording* that is missing is no error, and worse for that: the question cannot move there, and the
# model looks more stable. Check that every question has every wording:
wordings = runs.groupby(["model", "sample"])["variant"].nunique()
print(f"wordings a question: {wordings.min()} to {wordings.max()}")

# %%
# What moves
# ----------
# Which wording does the sensitive distribution choose, and from which sources are its questions?
q = result.sensitive
source = q["row"].str.split("-").str[0]
chosen = q.groupby("variant")["mass"].sum().sort_values(ascending=False)
print(chosen.round(3).to_frame("share of Q*").to_string(), end="\n\n")
weighed = pd.DataFrame(
    {
        "share now": source[~q["row"].duplicated()].value_counts(normalize=True),
        "share in Q*": q["mass"].groupby(source).sum(),
    }
)
weighed["moved"] = (q["cost"] > 0).groupby(source).mean()
print(weighed.round(3).to_string())

# %%
# The decision
# ------------
runner_up = max(others, key=lambda name: results[name].value)
print(f"""{comparison.verdict(runner_up, best)}
A change of cost {result.value:.4f} takes {best} from {result.current_risk:.0%} to {result.risk:.0%} errors;
{result.moved_share:.0%} of the prompts are reworded in it, the rest is a shift towards questions that it gets wrong.
Said of {result.samples} questions and {len(kept)} wordings; no choice among these is cheaper, others may be.""")

# %%
# If you deploy behind a fixed prompt, the wording is yours, and only the part of reweighting is left (``theta1=float("inf")``).
# If users write the prompts, all of it is. From files: ``tippingpoint compare --table runs.csv --by model --risk 0.7``. Next:
# :doc:`07_llm_prompts` asks which wording breaks whom, and what answers that nobody could read leave open. See
# :doc:`/how-to/black-boxes` for models that can still be asked, and :doc:`/how-to/noisy-answers` for answers that differ from
# run to run, that are missing, or that are about the same document.

# sphinx_gallery_thumbnail_number = 1
