"""Improving a model: advice, training, and an honest measurement
==============================================================

You know how stable a network is, and you want a more stable one. tippingpoint gives advice and has three trainings that
follow it. This page goes all the way: measure, take the advice, train, measure again on rows that neither the training nor
the advice has seen, and try to prove the success wrong. Some of the gains hold. Some do not, and the page shows how one would
have been fooled.
"""

# %%
# Before
# ------
# Tumours, benign (0) or malignant (1), in 30 measurements that say much the same in many ways. Half of them to train on, half
# to judge by. ``ERM`` is plain training: the mean loss is minimised, nothing else. Columns are standardised by the training
# rows, and moves are measured in those columns.
import copy
import textwrap

import matplotlib.pyplot as plt
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import tippingpoint as tp
from tippingpoint.training import AdversarialTrainingClassifier, ERMClassifier, TiltedERMClassifier

X, y = tp.datasets.breast_cancer()


def halves(seed):
    """Rows to train on and rows to judge by, standardised."""
    first, second, y_first, y_second = train_test_split(
        X, (y == "malignant").astype(int), test_size=0.5, random_state=seed, stratify=y
    )
    scaler = StandardScaler().set_output(transform="pandas").fit(first)
    return scaler.transform(first), scaler.transform(second), y_first, y_second


Z_train, Z_eval, y_train, y_eval = halves(0)
brief = {"max_iter": 300, "learning_rate": 0.003, "validation_share": 0.2, "random_state": 0}
plain = ERMClassifier(**brief).fit(Z_train, y_train)
errors = {"risk": 0.25, "theta1": 1.0, "theta2": 0.25, "scale": "raw", "progress": False}
print(tp.stability(plain, Z_eval, y_eval, **errors))

# %%
# The advice
# ----------
# Which features is the network sensitive to, and what does that suggest? The question is put to the *training* rows. The rows
# to judge by stay out of every choice that the script makes: features that look bad on them by chance would look better after
# any training.
ranked = tp.feature_stability(plain, Z_train, y_train, **errors)
ranked.plot(most=8)
advice = ranked.advice()
print(advice)

# %%
# An advice is a place to begin, no proof that it will help.
#
# Four trainings
# --------------
# *Adversarial training* trains on samples that have been moved to where they hurt; ``gamma`` is the price of moving, small is
# strong. *Targeted*, it moves the features of the advice only. *Tilted ERM* leans towards the samples with large losses.
targets = list(advice.targets)
trained = {
    "ERM": plain,
    "adversarial": AdversarialTrainingClassifier(gamma=0.3, **brief).fit(Z_train, y_train),
    "targeted": AdversarialTrainingClassifier(gamma=0.3, features=targets, **brief).fit(
        Z_train, y_train
    ),
    "tilted": TiltedERMClassifier(t=0.3, **brief).fit(Z_train, y_train),
}

# %%
# And one impostor. It is the plain network with its scores divided by four: less confident, and otherwise the same. It gives
# the same answer for every tumour there is, so nothing about it is better. (Four is our choice after a look at the result: two
# does less, four happens to come near adversarial training.)
impostor = copy.deepcopy(plain.as_module())
with torch.no_grad():
    impostor[-1].weight /= 4
    impostor[-1].bias /= 4
trained["impostor"] = impostor.eval()

# %%
# After: by the cross-entropy
# ---------------------------
# The paper judges trainings by the cross-entropy. Errors are paired, as all are judged on the same rows.
entropy = errors | {"risk": 1.5, "loss": "cross_entropy"}
by_entropy = tp.compare(trained, Z_eval, y_eval, **entropy)
print(by_entropy)

# %%
# Look at the impostor. If it is "more stable" here, the cross-entropy rewards something that is no improvement: a less
# confident network pays less for each mistake. So this comparison alone cannot tell how much of the other gains is better
# answers, and how much is less confidence. The column ``current_risk`` tells one difference: what the impostor pays now.
#
# After: by the error rate
# ------------------------
# Errors do not change when scores are divided, so this loss is not fooled in that way.
by_errors = tp.compare(trained, Z_eval, y_eval, **errors)
print(by_errors)
_, axes = plt.subplots(1, 2, figsize=(10, 2.8), layout="constrained")
for ax, (name, comparison) in zip(
    axes, {"cross-entropy": by_entropy, "error rate": by_errors}.items(), strict=True
):
    comparison.plot(ax)
    ax.set_title(name)

# %%
# After: where it was meant to help
# ---------------------------------
# Targeted training protects the targets. Let them alone move, and it should show; whether it shows when all features move is
# another question, answered above. A network that leans less on some columns leans more on others.
only = tp.compare(
    {name: trained[name] for name in ("ERM", "targeted", "adversarial")},
    Z_eval,
    y_eval,
    space=tp.Space(movable=targets),
    **errors,
)
print(textwrap.fill(f"If only {', '.join(targets)} may move:", 78))
for verdict, row in zip(only.verdicts(), only.pairs(), strict=True):
    print(textwrap.fill(f"{row[2]:+.4f} ± {row[3]:.4f}: {verdict}", 78, subsequent_indent="    "))

# %%
# Other halves, other seeds
# -------------------------
# A paired standard error tells how another set of rows *to judge by* would change the difference. It does not know that
# training on other rows, from other first weights, gives another network. So train again, on other halves.
lines = []
for seed in (1, 2):
    one, two, y_one, y_two = halves(seed)
    again = brief | {"random_state": seed}
    pair = {
        "ERM": ERMClassifier(**again).fit(one, y_one),
        "adversarial": AdversarialTrainingClassifier(gamma=0.3, **again).fit(one, y_one),
    }
    for name, question in {"cross-entropy": entropy, "error rate": errors}.items():
        comparison = tp.compare(pair, two, y_two, **question)
        (_, _, difference, error, _, _), verdict = comparison.pairs()[0], comparison.verdicts()[0]
        lines.append(
            {
                "halves": seed,
                "by": name,
                "difference": difference,
                "std. error": error,
                "decided": verdict.decided,
            }
        )
for name, comparison in {"cross-entropy": by_entropy, "error rate": by_errors}.items():
    _, _, difference, error, _, _ = comparison.pairs()[0]
    decided = comparison.verdict("adversarial").decided
    lines.append(
        {"halves": 0, "by": name, "difference": difference, "std. error": error, "decided": decided}
    )
table = pd.DataFrame(lines).sort_values(["by", "halves"])
print("adversarial training less ERM")
print(table.round(4).to_string(index=False))

# %%
# The decision
# ------------
accuracy = {
    name: (trained[name].predict(Z_eval) == y_eval).mean()
    for name in ("ERM", "adversarial", "targeted", "tilted")
}
print("accuracy: " + ", ".join(f"{name} {share:.1%}" for name, share in accuracy.items()))
for loss in ("cross-entropy", "error rate"):
    wins = table[(table["by"] == loss) & table["decided"] & (table["difference"] > 0)]
    print(
        f"by the {loss}, adversarial training is more stable, decidedly, on {len(wins)} of 3 halves"
    )
fooled = by_entropy.verdict("impostor")
print(f"and by the cross-entropy: {fooled}")

# %%
# So write down which loss you judged by, and why it is the one that matters to you. If decisions are taken at one cut-off, the
# error rate is closer to what happens. If probabilities are used as such, the cross-entropy is. On the paper's data, over ten
# draws, adversarial training and tilted ERM are more stable than ERM by the cross-entropy, at a small cost in accuracy:
# :doc:`/paper`. How it is on your data, you have just seen how to find out.
#
# What was tried before this page
# -------------------------------
# An example is chosen, and the choice is part of the result. Before this script was written, three values each of ``gamma`` and
# ``t`` were tried on tumours, on digits (3 or 8) and on the diabetes patients of :doc:`04_regression`, and looked at on rows
# to judge by. The halves and the ``gamma`` of this page were among them.
#
# - By the cross-entropy, adversarial training on all features was decidedly more stable than ERM in every trial.
# - Tilted ERM was so on the diabetes patients only, and not on every split of them.
# - Targeted training was so on nearly all trials with the tumours, and decidedly *less* stable than ERM on all four splits of
#   the diabetes patients.
# - By the error rate, with all features free to move, no training was decidedly more stable than ERM in any trial.
#
# So read the verdicts above as an illustration, not as a test on data that were new to us.

# sphinx_gallery_thumbnail_number = 2
