"""A printed result with a mark at each of its parts."""

import matplotlib.pyplot as plt
from pictures.tumours import first_result

MARKED = (
    "Stability",
    "prices",
    "certificate",
    "standard error",
    "moving",
    "reweighting",
    "excess risk",
    "cost",
)
LINE = 0.29
"""Inches from one line to the next."""

lines = str(first_result()).splitlines()
height = LINE * (len(lines) + 1)
figure = plt.figure(figsize=(9.2, height))
axes = figure.add_axes((0, 0, 1, 1))
axes.set(xlim=(0, 9.2), ylim=(height, 0))
axes.axis("off")
for k, line in enumerate(lines):
    y = LINE * (k + 1)
    headline = line.startswith("Stability")
    axes.text(
        0.62,
        y,
        line,
        family="monospace",
        size=11,
        va="center",
        weight="bold" if headline else "normal",
    )
    mark = next((n for n, word in enumerate(MARKED, 1) if line.strip().startswith(word)), None)
    if mark:
        axes.add_patch(plt.Circle((0.3, y), 0.125, color="#0a7d91"))
        axes.text(
            0.3, y, str(mark), color="white", size=10, ha="center", va="center", weight="bold"
        )
