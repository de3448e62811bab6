"""Language models: forged evidence, and losses between 0 and 1
============================================================

Two more tables of language models, where :doc:`07_llm_prompts` had one of prompts reworded. In the first, the evidence beside
a question was forged, and the choice of a cost decides which forger is worst. In the second, whole tasks are the samples: each
has many instructions and a loss between 0 and 1, and there are so few tasks that a standard error is not to be trusted.
"""

# %%
# The answers
# -----------
# They are real where their files are on the machine, published by others and condensed. Where they are not, the script makes
# up tables of the same form and says so. Then names and numbers below mean nothing beyond how to read them.
import os
import textwrap
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import tippingpoint as tp

EVIDENCE = ["gold_evidence", "no_evidence", "adv_a", "adv_b", "adv_c"]
INSTRUCTIONS = ["original", *(f"{how}-{k}" for how in ("rephrase", "cot") for k in range(40))]


def made_up(count, variants):
    """The same columns, from a random number generator."""
    rng = np.random.default_rng(0)
    skill = {"made-up A": 1.0, "made-up B": 0.6, "made-up C": 0.5}
    names = [f"{('yesno', 'free')[i % 2]}-{i:03}" for i in range(count)]
    table = pd.MultiIndex.from_product(
        [names, variants, skill], names=["sample", "variant", "model"]
    )
    table = table.to_frame(index=False)
    share = rng.uniform(0.1, 0.6, (count, len(variants))) * (np.arange(len(variants)) > 0)
    hard = rng.normal(size=(count, 1, 1)) + 2 * share[:, :, None] * rng.random((*share.shape, 3))
    words = np.repeat((200 * share).round(), len(skill)) * (table["variant"] != "no_evidence")
    wrong = 1 / (1 + np.exp(3 * (np.array(list(skill.values())) - hard))).ravel()
    table = table.assign(word_edit_norm=np.repeat(share, len(skill)), ctx_words=words)
    return table.assign(sem_dist=table["word_edit_norm"] / 2, loss=wrong, correct=(wrong < 0.5) * 1)


def read(name, count, variants):
    folder = Path(os.environ.get("TIPPINGPOINT_DATA", "../../../shared/data")) / "llm"
    if (folder / f"{name}.csv.gz").exists():
        print(f"{name}: real answers of real models.")
        return pd.read_csv(folder / f"{name}.csv.gz")
    print(f"{name}: a MADE-UP table.\nllm/{name}.csv.gz is not here;")
    print("set TIPPINGPOINT_DATA to the folder that it is in.")
    return made_up(count, variants)


evidence = read("biomedical_evidence", 800, EVIDENCE)
evidence["loss"] = 1 - evidence["correct"]
print(evidence.pivot_table(index="variant", columns="model", values="loss").round(3).to_string())
size = evidence.groupby("variant")[["sem_dist", "ctx_words"]].mean()
print(f"\nmean distance of meanings, words of evidence\n{size.round(2).to_string()}")

# %%
# Models answer biomedical questions with the right evidence beside them, with none, or with evidence that another model rewrote
# so that it supports a wrong answer. That is no rewording. Who believes what it is shown does as it was told, and the stability
# says how small a forgery does it, not who is to blame.
#
# Two costs
# ---------
# First from the right evidence, by the distance of meanings: ``theta1=1``. Rewritten texts that are no different cost nothing
# and are no change; they are left out. Then from no evidence at all, by the words that are put in, a hundred at a price of 0.1.
# One forger at a time, for each model:
same = (evidence["sem_dist"] == 0) & (evidence["variant"] != "gold_evidence")
print(f"{same.sum()} of {len(evidence):,} lines left out")
columns = ["model", "sample", "variant", "loss", "cost"]
gold = evidence[~same].assign(cost=evidence["sem_dist"])[columns]
none = evidence[evidence["variant"] != "gold_evidence"]
none = none.assign(cost=none["ctx_words"] / 100)[columns]
by_meaning = {"risk": 0.5, "theta1": 1.0, "theta2": 0.25}
by_words = {"risk": 0.6, "theta1": 0.1, "theta2": 0.25}
asked = {"right evidence": (gold, by_meaning), "no evidence": (none, by_words)}
_, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for ax, (name, (table, question)) in zip(axes, asked.items(), strict=True):
    ranked = {
        model: tp.variation_stability(profile, **question).results
        for model, profile in tp.profile_table(table, by="model").items()
    }
    values = pd.DataFrame({m: {v: r.value for v, r in rs.items()} for m, rs in ranked.items()})
    values.iloc[::-1].plot.barh(ax=ax, legend=ax is axes[0], xlabel="stability")
    ax.set_title(f"from {name} to {question['risk']:.0%} errors", fontsize="medium")
    print(f"\nfrom {name} to {question['risk']:.0%} errors\n{values.round(4).to_string()}")


# %%
# Every number is exact, over these texts, and the two costs need not agree about who forges best: by words a short text is
# cheap, by meanings one that stays close. Name the cost with every such claim.
#
# Whose answers are hardest to forge
# ----------------------------------
# All forgers together, and each pair of models at a level that makes it 95 % for all pairs. Half of the questions or
# more are to be answered by yes or no. Does what holds of all hold of them?
def verdicts(comparison):
    pairs = list(combinations(comparison.to_frame()["model"], 2))
    for pair in pairs:
        verdict = comparison.verdict(*pair, level=1 - 0.05 / len(pairs))
        print(textwrap.fill(str(verdict), 79, subsequent_indent="    "))


asked["right evidence, yes or no"] = (gold[gold["sample"].str.startswith("yesno")], by_meaning)
for name, (table, question) in asked.items():
    comparison = tp.compare(tp.profile_table(table, by="model"), **question)
    print(f"\nfrom {name} to {question['risk']:.0%} errors")
    print(
        comparison.to_frame()[["model", "current_risk", "stability", "standard_error"]]
        .round(4)
        .to_string(index=False)
    )
    verdicts(comparison)

# %%
# The answers in free text were judged by another language model, and its errors are in the table as if they were the models'.
#
# Losses that are not 0 or 1
# --------------------------
# Here a sample is a *task*, an alternative is one of many instructions for it, and the loss is the share of wrong answers to a
# hundred instances. Tasks that differ in a number or a word are one group, and not several independent samples. Of the models
# that did all tasks, take the four with the least loss now. Instructions that differ in punctuation only are left out.
tasks = read("instruction_templates", 25, INSTRUCTIONS)
done = tasks.groupby("model")["sample"].transform("nunique") == tasks["sample"].nunique()
tasks = tasks[done & ((tasks["word_edit_norm"] > 0) | (tasks["variant"] == "original"))]
now = tasks[tasks["variant"] == "original"].groupby("model")["loss"].mean()
twins = r"(three|five|seven|more|less|all|any)_"
tasks = tasks[tasks["model"].isin(now.nsmallest(4).index)].assign(
    cost=tasks["word_edit_norm"], family=tasks["sample"].str.replace(twins, "", regex=True)
)[["model", "sample", "variant", "family", "cost", "loss"]]
leader = now.idxmin()
mine = tasks[tasks["model"] == leader]
losses = (
    mine.groupby("sample")["loss"]
    .apply(list)
    .loc[mine.groupby("sample")["loss"].median().sort_values().index]
)
_, ax = plt.subplots(figsize=(9, 3.2), layout="constrained")
ax.boxplot(list(losses), whis=(0, 100), medianprops={"color": "C0"})
ax.plot(
    range(1, len(losses) + 1),
    mine[mine["variant"] == "original"].set_index("sample").loc[losses.index, "loss"],
    "o",
    label="the original instruction",
)
ax.set(xlabel=f"tasks, all instructions of each, {leader}", ylabel="loss", xticks=[])
ax.legend(frameon=False)

# %%
# A box is the middle half of the instructions, the whiskers reach to the best and the worst. A perturbation gives a task an
# instruction that raises the loss for its cost, which is the share of words that differ, and weighs tasks anew.
profiles = tp.profile_table(tasks, by="model", group="family")
few = tp.compare(profiles, risk=0.65, theta1=1.0, theta2=0.25)
print(few.to_frame().drop(columns="status").round(4).to_string(index=False))
left = min(result.effective_sample for result in few.results.values())
print(f"{tasks['family'].nunique()} groups, of which as few as {left:.0f} carry a number")
verdicts(few)

# %%
# From so few, a standard error is not to be trusted. The bootstrap draws groups; with the same seed it draws the same for every
# model, so differences are paired. Its intervals are rough as well, and rather too narrow.
drawn = {name: result.bootstrap(1000, seed=0) for name, result in few.results.items()}
pairs = list(combinations(few.to_frame()["model"], 2))
for one, other in pairs:
    tail = 0.025 / len(pairs)
    low, high = np.quantile(drawn[one].values - drawn[other].values, [tail, 1 - tail])
    print(f"{one} less {other}: {low:+.3f} to {high:+.3f}")

# %%
# Where one way of counting decides and the other does not, it is undecided: 25 tasks are too few. And as in
# :doc:`07_llm_prompts`, who has the larger loss now has the shorter way to 0.65.
#
# Luck
# ----
# The worst of many noisy losses is worst by luck in part. How much could luck do? Let every instruction of a task be equally
# good, and draw a hundred answers to each. (The real instances were the same for all instructions; drawn anew for each, as
# here, luck does more.)
even = tasks.groupby(["model", "sample"])["loss"].transform("mean")
luck = tasks.assign(loss=np.random.default_rng(0).binomial(100, even) / 100)
print("what it takes to lift the loss by 0.1, by rewording alone")
for name, p in tp.profile_table(luck, by="model").items():
    found = [
        each.stability(each.risk + 0.1, theta1=1.0, theta2=np.inf) for each in (profiles[name], p)
    ]
    print(f"{name:<20} {found[0].value:.4f} measured, {found[1].value:.4f} by luck alone")

# %%
# If luck alone did it at nearly the same cost, the measured number would be noise. Where it costs several times as much, or is
# infinite, luck alone does not explain it. How much is luck, repeated runs would tell (:doc:`/how-to/noisy-answers`).
#
# What may be said
# ----------------
# The stability on *these* samples, with *these* alternatives, is exact. Whether an order holds of other samples like them is
# what verdicts and intervals are about; 25 tasks leave most of it open. Of instructions that nobody wrote, or of evidence from
# a better forger, nothing is said but that more alternatives can only make the numbers smaller.
#
# Before this page was written we looked at thresholds of 30 and 50 % from the right evidence, with the same verdicts, and at
# 0.65 and 0.7 for the tasks.

# sphinx_gallery_thumbnail_number = 1
