"""Credit scoring: gradient boosting with categories
=================================================

A lender asks before a loan: *does this applicant earn more than 50,000 dollars a year?* A gradient boosting answers, from
what applicants fill in. You validate it. Its error rate on held-out applicants is known; the question of this page is how
much those applicants, and what they fill in, may change before the model is worth nothing.

You will see how to say what may change (a *space*), why trees need that more than other models, how to read bounds from
both sides, which features and which applicants the answer hangs on, how to compare with a simpler model, and what a credit
committee may conclude.
"""

# %%
# The data
# --------
# No set of real loans can be shipped with a library. The nearest real thing is a question of the same kind on real people:
# ACS Income, answers to the American Community Survey in California. Where its file is not on the machine, the script makes
# up applicants with the same columns and says so. Then the numbers below teach how to read, and tell nothing about people.
import os
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import tippingpoint as tp

rng = np.random.default_rng(0)


def real_people(folder):
    """ACS Income, its one-hot columns put back together."""
    task = tp.datasets.acs_income(folder)
    word = {column: text.split(": ")[-1] for column, text in task.labels.items()}
    jobs = sorted(set(task.groups["occupation"]) - set(task.one_hot["OCCP_level"]))
    X = task.X.rename(columns={"AGEP": "age", "WKHP": "hours", "SCHL": "education"})
    X["employer"] = X[list(task.one_hot["COW"])].idxmax(axis=1).map(word)
    X["occupation"] = X[jobs].idxmax(axis=1).map(word).where(X[jobs].any(axis=1))
    X["sex"] = X["SEX"].map({1: "male", 2: "female"})
    return X[["age", "hours", "education", "employer", "occupation", "sex"]], task.y


def made_up_people(n=12_000):
    """The same columns, from a random number generator."""
    X = pd.DataFrame({"age": rng.integers(18, 80, n)})
    X["hours"] = rng.normal(38, 12, n).clip(1, 99).round()
    X["education"] = rng.normal(18, 3, n).clip(1, 24).round()
    X["employer"] = rng.choice(["private firm", "non-profit", "self-employed"], n)
    worth = {"managers": 1.5, "computing": 1.5, "medicine": 1, "office": -0.3, "food": -2}
    X["occupation"] = rng.choice(list(worth), n)
    X["sex"] = rng.choice(["female", "male"], n)
    score = X["occupation"].map(worth) + 0.07 * (X["hours"] - 38) + 0.25 * (X["education"] - 18)
    return X, pd.Series(score + 0.03 * X["age"] + rng.logistic(0, 0.6, n) > 2, dtype=int)


try:
    X, y = real_people(os.environ.get("TIPPINGPOINT_DATA", "../../../shared/data"))
    print("ACS Income, California 2018: real people.")
except tp.InputError as missing:
    X, y = made_up_people()
    print(textwrap.fill(f"MADE-UP applicants, as ACS Income is not here. {missing}", 78))
categories = ["employer", "occupation", "sex"]
X = X.astype({"age": int, "education": int} | dict.fromkeys(categories, "category"))
print(X.head().to_string())

# %%
# Not everybody fills in everything. To make the point, we blank the hours of one applicant in ten: gradient boosting reads a
# missing value as a value of its own, and so does tippingpoint. Then 8,000 applicants to train on, 1,500 others to evaluate.
from xgboost import XGBClassifier

X["hours"] = X["hours"].mask(rng.random(len(X)) < 0.1)
order = rng.permutation(len(X))
X_train, y_train = X.iloc[order[:8000]], y.iloc[order[:8000]]
X_eval, y_eval = X.iloc[order[8000:9500]], y.iloc[order[8000:9500]]
settings = {"n_estimators": 60, "max_depth": 4, "learning_rate": 0.15, "random_state": 0}
booster = XGBClassifier(enable_categorical=True, **settings).fit(X_train, y_train)
now = 1 - booster.score(X_eval, y_eval)
nobody = min(y_eval.mean(), 1 - y_eval.mean())
print(f"error rate of the model {now:.1%}; of the same answer for everybody {nobody:.1%}")

# %%
# The threshold
# -------------
# A threshold should be an error rate at which you would act. Here there is a natural one: at the error rate of giving
# everybody the same answer, the model adds nothing. We ask what it takes to get there. ``theta1`` is the price of moving an
# applicant by one squared standard deviation, ``theta2`` the price of reweighting the population by one nat.
question = {"risk": round(nobody, 2), "theta1": 1.0, "theta2": 0.25}
print(tp.stability(booster, X_eval, y_eval, scale="std", **question))

# %%
# Read what comes *first of all*. Trees cut where data lie. Without a space numbers move by any fraction: an applicant with
# 40 hours "moves" to just under 40, changes leaf, and pays nothing. That is a true statement about the trees, and not about
# applicants.
#
# What may change
# ---------------
# ``Space.infer`` reads kinds and ranges off the data; you correct it. Here prices follow how well the lender checks an
# answer. Age and sex are on the passport: frozen. (Frozen means "not a way to move". It says nothing about whether a model
# should use them.) Occupation and employer are typed in by a clerk, so a switch is cheap. Hours are self-reported, and an
# applicant may also withhold them.
space = tp.Space.infer(X).edit(
    frozen=["age", "sex"], price={"occupation": 0.1, "employer": 0.1}, missing={"hours": 0.1}
)
print(space)

# %%
# The answer, from both sides
# ---------------------------
# A profile finds the best response of every applicant once. Questions about it are cheap.
judged = {"X": X_eval, "y": y_eval, "space": space, "scale": "std"}
profile = tp.profile(booster, **judged)
result = profile.stability(**question)
print(result)
result.plot()

# %%
# The line *certificate* holds two numbers. The upper one is what a change that we hold in our hands costs. The lower one is
# proved: no change within the space is cheaper. A proof for trees ends where the two are within 0.1 %; ``gap=0`` goes on to
# rounding.
exact = tp.stability(booster, gap=0.0, **judged, **question)
print(f"lower {exact.lower:.10f}, upper {exact.upper:.10f}, exact: {exact.exact}")
low, high = result.interval()
print(f"in the population that they were drawn from: {low:.4f} to {high:.4f} (95 %)")

# %%
# The bounds are about these 1,500 applicants; the interval is about the population that they were drawn from. Here, as
# often with trees, sampling is by far the larger doubt.
#
# Which feature
# -------------
# One feature may move, all others stay. The dashed line is what reweighting alone costs: a feature whose bar ends there
# adds nothing.
ranked = tp.feature_stability(booster, **judged, **question)
print(ranked)
ranked.plot()

# %%
# The ranking depends on your prices: a switch that costs ten times as much ranks lower. It ranks what is *cheap to exploit*,
# not what matters most for prediction.
#
# Who
# ---
# The sensitive distribution Q* holds every applicant with a new weight and a new place. How do those who move do it, and
# what does a move look like?
q = result.sensitive
after = q[list(ranked)].astype(object).where(q[list(ranked)].notna(), "missing")
before = X_eval.loc[q["row"], list(ranked)].reset_index(drop=True).astype(object)
before = before.where(before.notna(), "missing")
changed = after != before
ways = changed[q["cost"] > 0].apply(lambda row: " and ".join(row.index[row]), axis=1)
print(f"{len(ways)} of {result.samples:,} applicants move, by a change of")
print(ways.value_counts().to_string(header=False))
for i in ways.groupby(ways).head(1).index[:4]:
    moves = [name for name in ranked if changed.loc[i, name]]
    told = [f"{name} {before.loc[i, name]} -> {after.loc[i, name]}" for name in moves]
    print(f"applicant {q.loc[i, 'row']}, at cost {q.loc[i, 'cost']:.3f}: {', '.join(told)}")

# %%
# Weights tell the sub-population. Which occupations does Q* hold more of, and how wrong is the model about them now?
job = X_eval["occupation"].astype(str)
who = pd.DataFrame(
    {
        "share now": job.value_counts(normalize=True),
        "share in Q*": q["mass"].groupby(q["row"].map(job)).sum(),
        "error rate now": (booster.predict(X_eval) != y_eval).groupby(job).mean(),
    }
)
who["times"] = who["share in Q*"] / who["share now"]
common = who[who["share now"] > 0.02]
print(common.sort_values("times", ascending=False).head(6).round(3).to_string())

# %%
# ``times`` near one means that no single occupation carries the change: errors are spread over all of them. And a worst
# case is not a forecast. Nobody says that these applicants will come; it is the mix to watch for.
#
# Other thresholds
# ----------------
# One threshold is one opinion. A curve shows them all, with a band of 95 % for the sampling error.
curve = profile.curve(np.linspace(now + 0.02, 0.55, 8).round(3), theta1=1.0, theta2=0.25)
curve.plot()

# %%
# A simpler model
# ---------------
# Would a logistic regression be safer? Both are judged on the same applicants, in the same raw columns and the same space,
# so errors are paired: what is common to both cancels.
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
columns = make_column_transformer(
    (numbers, ["age", "hours", "education"]),
    (OneHotEncoder(handle_unknown="ignore"), categories),
)
logistic = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X_train, y_train)
comparison = tp.compare({"boosting": booster, "logistic": logistic}, **judged, **question)
print(comparison)
_, ax = plt.subplots(figsize=(7, 2.2), layout="constrained")
comparison.plot(ax)

# %%
# What to tell the committee
# --------------------------
verdict = comparison.verdict("logistic")
print(f"""Tell them:
- "At these prices a change of cost {exact.value:.4f} lifts the error rate from {now:.0%} to {question["risk"]:.0%}.
  No cheaper one exists in this space: that is proved for these {exact.samples:,} applicants.
  In the population that they were drawn from it may be {low:.4f} to {high:.4f}."
- "The cheapest single way in is '{next(iter(ranked))}': check that answer first."
- "{verdict}"
Do not tell them:
- "It is {result.value:.1%} likely to break": a stability is a price, not a probability.
- "It is stable": compared with what? Compare models or dates at the same prices.
- "It is fair": sex was frozen, which is no test of fairness.""")

# %%
# Next: :doc:`/how-to/choose-prices` and :doc:`/how-to/choose-a-space`, or the same from files, without Python, in
# :doc:`02_validators_afternoon`.

# sphinx_gallery_thumbnail_number = 2
