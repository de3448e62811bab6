"""Regression: squared, absolute and pinball loss
==============================================

A clinic predicts how far a patient's diabetes will have progressed in a year, as a score between 25 and 346. Two models are
on the table, a ridge regression and boosted trees. There is no error rate here; there is a mean loss, in the units of the
score or their square. This page shows how to choose a threshold then, what unit the stability has, what the choice of a loss
changes, and how to look at the patients that move.
"""

# %%
# Patients and two models
# -----------------------
# The data ship with scikit-learn, in the units of the clinic. The columns ``s1`` to ``s6`` are blood measurements (``s5`` is
# the logarithm of triglycerides).
import textwrap

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import QuantileRegressor, Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tippingpoint as tp

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["sex"] = X["sex"].astype(int)
X_train, X_eval, y_train, y_eval = train_test_split(X, y, test_size=0.5, random_state=0)
ridge = make_pipeline(StandardScaler(), Ridge(10.0)).fit(X_train, y_train)
trees = GradientBoostingRegressor(
    n_estimators=60, max_depth=3, learning_rate=0.08, random_state=0
).fit(X_train, y_train)

# %%
# A threshold with a meaning
# --------------------------
# When is a regression worth nothing? When it does no better than one number for everybody. For the squared loss the best such
# number is the mean, and its loss is the variance. We ask what it takes to get there.
constant = y_eval.var(ddof=0)
print(f"{'one number for all':<20} root of the mean squared error {np.sqrt(constant):5.1f}")
for name, model in {"ridge": ridge, "boosted trees": trees}.items():
    print(
        f"{name:<20} root of the mean squared error {np.sqrt(((model.predict(X_eval) - y_eval) ** 2).mean()):5.1f}"
    )

# %%
# What may move
# -------------
# An instrument has a resolution: age comes in years, the body mass index in tenths. Trees notice, because they cut where data
# lie, and a patient next to a cut could change leaf for nothing. So each column gets its step. Sex is no measurement: frozen.
steps = {
    "age": 1.0,
    "bmi": 0.1,
    "bp": 0.01,
    "s1": 1.0,
    "s2": 0.1,
    "s3": 0.5,
    "s4": 0.01,
    "s5": 0.0001,
    "s6": 1.0,
}
inferred = tp.Space.infer(X).edit(frozen=["sex"])
space = inferred.edit(kind=dict.fromkeys(steps, "integer"), step=steps)
print(space)

# %%
# Ridge: the answer and its unit
# ------------------------------
# ``theta1=1`` prices a patient's move by one squared standard deviation, ``theta2=1`` a nat of reweighting.
prices = {"theta1": 1.0, "theta2": 1.0, "scale": "std"}
result = tp.stability(
    ridge, X_eval, y_eval, risk=constant, loss="squared", space=inferred, **prices
)
print(result)
result.plot()

# %%
# Two units are in play. The *risk* is in squared points of the score. The *stability* is not: it counts prices, so many
# squared standard deviations and nats. Measure the score in tens of points, and the risk divides by a hundred while the
# stability stays:
tenth = make_pipeline(StandardScaler(), Ridge(10.0)).fit(X_train, y_train / 10)
rescaled = tp.stability(
    tenth, X_eval, y_eval / 10, risk=constant / 100, loss="squared", space=inferred, **prices
)
print(f"in points {result.value:.6f}, in tens of points {rescaled.value:.6f}")

# %%
# Boosted trees
# -------------
# The same question, first with numbers that move by any fraction, then by the steps of the instruments.
for name, where in {"any fraction": inferred, "by steps": space}.items():
    found = tp.stability(
        trees, X_eval, y_eval, risk=constant, loss="squared", space=where, **prices
    )
    print(f"{name:<13} from {found.lower:.5f} to {found.upper:.5f}")
    print(textwrap.indent(textwrap.fill(found.caution or "no caution", 76), " " * 14))

# %%
# Three losses
# ------------
# The loss decides which errors count. *Squared* is led by the few patients with large errors. *Absolute* counts points.
# *Pinball* is for a quantile: with ``pinball:0.9`` a point too low costs nine times as much as a point too high, which is what
# a clinic wants that plans beds, and its models are fitted to that. Each threshold is that of the best single number, so the
# three questions ask the same: when is the model worth nothing?
quantile_ridge = make_pipeline(StandardScaler(), QuantileRegressor(quantile=0.9, alpha=0.01)).fit(
    X_train, y_train
)
quantile_trees = GradientBoostingRegressor(
    loss="quantile", alpha=0.9, n_estimators=60, max_depth=3, learning_rate=0.08, random_state=0
).fit(X_train, y_train)
high = y_eval - y_eval.quantile(0.9)
cases = {
    "squared": (constant, {"linear": ridge, "trees": trees}),
    "absolute": ((y_eval - y_eval.median()).abs().mean(), {"linear": ridge, "trees": trees}),
    "pinball:0.9": (
        np.maximum(0.9 * high, -0.1 * high).mean(),
        {"linear": quantile_ridge, "trees": quantile_trees},
    ),
}
compared = {
    loss: tp.compare(models, X_eval, y_eval, risk=risk, loss=loss, space=space, **prices)
    for loss, (risk, models) in cases.items()
}
rows = [
    {
        "loss": loss,
        "model": name,
        "risk now": r.current_risk,
        "threshold": r.risk,
        "lower": r.lower,
        "upper": r.upper,
    }
    | {"std. error": r.standard_error, "moving": r.corruption_excess / (r.risk - r.current_risk)}
    for loss, comparison in compared.items()
    for name, r in comparison.results.items()
]
print(pd.DataFrame(rows).round(4).to_string(index=False))
for loss, comparison in compared.items():
    print(f"{loss}: {comparison.verdict('trees')}")

# %%
# ``moving`` is the share of the excess risk that comes from moving. A tree's prediction jumps: a small step across a cut can
# change it by many points, and moving is cheap. A ridge regression changes in proportion.
#
# The patients that move
# ----------------------
# Under the squared loss every patient of a linear model moves a little, those with large errors more and with larger weights.
# Grey is where they were. Colour tells whom the model predicts too low and too high.
side = np.where(ridge.predict(X_eval) < y_eval, "predicted too low", "predicted too high")
result.plot_sensitive(["bmi", "s5"], labels=side)

# %%
# The five patients that carry most, before and after. A weight of 2 means: as if there were two of them.
q = result.sensitive.sort_values("loss", ascending=False).head(5)
told = pd.DataFrame(
    {
        "weight": q["weight"],
        "error before": np.sqrt(q["loss_before"]),
        "error after": np.sqrt(q["loss"]),
    }
)
for name in ("bmi", "bp", "s5"):
    told[name] = [
        f"{X_eval.loc[row, name]:.4g} -> {moved:.4g}"
        for row, moved in zip(q["row"], q[name], strict=True)
    ]
print(told.round(2).to_string(index=False))

# %%
# Other thresholds
# ----------------
# Squared points are hard to feel, so choose thresholds by their root: how much from the present error to that of one number?
profile = tp.profile(ridge, X_eval, y_eval, loss="squared", space=inferred, scale="std")
roots = np.linspace(np.sqrt(result.current_risk) + 1, np.sqrt(constant), 7)
ax = profile.curve(roots**2, theta1=1.0, theta2=1.0).plot()
ax.set_xticks(roots**2, [f"{root:.0f}²" for root in roots])

# %%
# The decision
# ------------
verdict = compared["squared"].verdict("trees")
low, top = result.interval()
print(f"""Squared loss, steps of the instruments, {len(X_eval)} patients: {verdict}
The ridge regression is worth nothing after a change of cost {result.value:.3f} (95 %: {low:.3f} to {top:.3f}).
Prices: one squared standard deviation of a patient costs 1, one nat of reweighting 1.""")

# %%
# Next: :doc:`/how-to/choose-prices` on what the two prices should be, :doc:`/reference/python` for the other losses.

# sphinx_gallery_thumbnail_number = 2
