"""Neural networks: what was found, and what is proved
===================================================

Two PyTorch networks read handwritten digits. Both are right almost always. This page asks how far pixels must change before
that ends, and how sure the answer is. For a network the second question is the harder one: the worst change is *searched*
for, and a search can miss. So every result has two numbers, what was found (an upper bound) and what is proved (a lower
bound). You will see results where the two almost meet, where they leave room, and where nothing is proved at all.
"""

# %%
# Two networks
# ------------
# The digits ship with scikit-learn: 8 by 8 pixels, grey from 0 to 1. Any module that returns logits will do; a plain
# ``nn.Sequential`` is best, for its layers can be read, and bounded.
import textwrap

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

import tippingpoint as tp

X, y = load_digits(return_X_y=True)
X_train, X_eval, y_train, y_eval = train_test_split(
    X / 16.0, y, test_size=400, random_state=0, stratify=y
)


def trained(layers, X, y, loss, steps):
    torch.manual_seed(0)
    net = nn.Sequential(*layers())
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=1e-4)
    inputs, targets = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
    for _ in range(steps):
        optimiser.zero_grad()
        loss(net(inputs), targets).backward()
        optimiser.step()
    return net.eval()


def dense():
    return nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10)


def convolution():
    return (
        nn.Unflatten(1, (1, 8, 8)),
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(512, 10),
    )


nets = {
    "dense": trained(dense, X_train, y_train, nn.functional.cross_entropy, 200),
    "convolution": trained(convolution, X_train, y_train, nn.functional.cross_entropy, 60),
}

# %%
# Ten classes
# -----------
# The error counts whichever wrong class is nearest. Pixels stay between black and white: that is the space. All pixels have
# the same unit already, and ``scale="raw"`` says that this is meant. The threshold is an error rate of 30 %.
space = tp.Space(lower=0.0, upper=1.0)
question = {"risk": 0.3, "theta1": 1.0, "theta2": 0.25, "scale": "raw"}
result = tp.stability(nets["dense"], X_eval, y_eval, space=space, progress=False, **question)
print(result)

# %%
# Read the line *certificate*. The upper bound is what a change costs that was found, by following gradients along a ladder of
# prices (``method="path"``). It is a real change, so the stability cannot be larger. The lower bound comes from how steep the
# layers are: below it, no change of any kind does it. The truth is somewhere between:
print(f"between {result.lower:.4f} and {result.upper:.4f}: the bounds leave {result.gap:.0%}")

# %%
# What moves
# ----------
# The sensitive distribution holds every image, moved or not. Above, images that move; in the middle, where they go; below, the
# difference, red where ink is added and blue where it is taken away.
q = result.sensitive
pixels = q[[f"x{i}" for i in range(64)]].to_numpy()
moved = q[q["cost"] > 0].sort_values("cost", ascending=False).index[::12][:7]
fig, axes = plt.subplots(3, len(moved), figsize=(9, 4.2), layout="constrained")
for column, i in zip(axes.T, moved, strict=True):
    before, after = X_eval[q.at[i, "row"]], pixels[i]
    rows = (before, "Greys", 0, 1), (after, "Greys", 0, 1), (after - before, "RdBu_r", -0.2, 0.2)
    for ax, (image, colours, low, high) in zip(column, rows, strict=True):
        ax.imshow(image.reshape(8, 8), cmap=colours, vmin=low, vmax=high)
        ax.set(xticks=[], yticks=[])
    column[0].set_title(f"digit {y_eval[q.at[i, 'row']]}", fontsize=10)
    column[1].set_title(f"distance {np.sqrt(q.at[i, 'cost']):.2f}", fontsize=10)
print(f"{(q['cost'] > 0).sum()} of {len(X_eval)} images move")

# %%
# A person reads the middle row as the upper one. Moved images stop *on* the boundary between two classes, where the error
# begins; nobody pays for going further.
#
# A comparison that is undecided
# ------------------------------
# Is the convolution more stable? Its number is larger, and by more than the sampling error. Still the verdict may be open.
comparison = tp.compare(nets, X_eval, y_eval, space=space, progress=False, **question)
print(comparison)

# %%
# A verdict is decided only if the lower bound of the one is above the upper bound of the other. Where bounds overlap, a better
# search might turn the order round. What was found for the one may simply be a better find. ``certify="tight"`` works longer
# at lower bounds, which pays for larger networks; smaller networks can be proved outright.
#
# A network that can be proved
# ----------------------------
# Three or eight? One hidden layer of ReLUs with one output is enough. For the error rate such a network is proved over its
# gates without being asked. For the cross-entropy the search comes first, and ``method="exact"`` proves it.
pair = np.isin(y_train, [3, 8]), np.isin(y_eval, [3, 8])
small = trained(
    lambda: (nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 1)),
    X_train[pair[0]],
    (y_train[pair[0]] == 8).astype("float32"),
    lambda logits, eight: nn.functional.binary_cross_entropy_with_logits(logits[:, 0], eight),
    150,
)
held = {"X": X_eval[pair[1]], "y": y_eval[pair[1]], "classes": [3, 8], "progress": False}
answers = {
    "error rate": tp.stability(small, **held, **question),
    "cross-entropy, searched": tp.stability(
        small, **held, **question | {"risk": 0.5}, loss="cross_entropy"
    ),
    "cross-entropy, exact": tp.stability(
        small, **held, **question | {"risk": 0.5}, loss="cross_entropy", method="exact"
    ),
}
for name, each in answers.items():
    print(f"{name:<24} from {each.lower:.5f} to {each.upper:.5f}\n    {each.lower_by}")

# %%
# Searched and exact should have nearly the same upper bound: then the search had missed little. Only the proof tells you so.
#
# Not certified
# -------------
# A ``forward`` that does arithmetic of its own is no chain of known layers. Here it divides the logits of the dense network by
# a temperature, as one does to calibrate them. That changes no answer.


class Calibrated(nn.Module):
    """A network whose logits are divided by a temperature."""

    def __init__(self, net, temperature):
        super().__init__()
        self.net, self.temperature = net, temperature

    def forward(self, x):
        return self.net(x) / self.temperature


closed = tp.stability(
    Calibrated(nets["dense"], 2.0).eval(), X_eval, y_eval, space=space, progress=False, **question
)
print(f"as layers    from {result.lower:.4f} to {result.upper:.4f}")
print(f"as a module  from {closed.lower:g} to {closed.upper:.4f}\n    {closed.lower_by}")

# %%
# What was found is the same, or nearly. What changed is what you may say. "Not certified" does not mean that the network is
# unstable, nor that the number is wrong: it means that a cheaper change may exist, and nobody has shown otherwise. A gate
# judges the lower bound, so this network passes none, whatever was found.
#
# How far is the room between the bounds from what matters? Along thresholds:
profile = tp.profile(nets["dense"], X_eval, y_eval, space=space, scale="raw", progress=False)
profile.curve([0.1, 0.2, 0.3, 0.4, 0.5], theta1=1.0, theta2=0.25).plot()

# %%
# The dotted line is certified, the solid line was found, the band is the sampling error of what was found. A statement that
# holds on both lines needs no belief in the search.
#
# What you may say
# ----------------
print(f"""- "A change of cost {result.upper:.4f} breaks the dense network. Here it is." Certain: it was found.
- "No change below {np.floor(result.lower * 1e4) / 1e4:.4f} does." Certain for these images: it is proved.
- "The stability is {result.upper:.4f}." Not certain: that is the upper bound.""")
print(textwrap.fill(f"Of the two: {comparison.verdict('convolution')}", 78))

# %%
# Next: :doc:`/explanation/what-is-exact` says what can be proved for which model; :doc:`06_improving_a_model` trains networks
# for stability.

# sphinx_gallery_thumbnail_number = 1
