"""Headings and sentences of a report that are the same in every case: written once, for the page and its Markdown twin."""

from __future__ import annotations

ANSWER = "The answer"
YARDSTICKS = "Large compared with what?"
CURVES = "Other thresholds, other kinds of change"
POPULATION = "Who the sensitive population is"
ROWS = "The most sensitive rows"
FEATURES = "Which feature breaks it"
MODELS = "Models side by side"
LIMITS = "What this does not say"
MANIFEST = "What this was made from"

MEANING = "The stability is the price of the cheapest change of the data that reaches the threshold. A large one is good."

HELD_AGAINST = "What other changes of the same data cost, at the same prices"

BAND = "The shaded band is ± 1.96 standard errors of sampling."

SHIFTED = (
    "The sensitive population is what the data would have to look like. Groups are listed that would have to be seen more"
    " often, by more than two standard errors; many conditions were looked at, so one of them may be chance."
)
"""Above the description of whom the weights favour."""

MOVED = (
    "At these prices nobody is counted more or less often; rows only move. Groups are listed that move more often than others."
)
"""Above the description of who moves."""

NOBODY = "No simple group of rows stands out: no single condition differs by more than two standard errors."

MOVES_HEAD = ("feature", "on average, where it changes", "of the sensitive population")

REAL_ROWS = "Real rows of your data: how much more often each would have to count, and what would have to change in it."

NO_ROW = "No row has to change."

STAYS = "stays as it is"

ROWS_SHOWN = "The rows that add most to the risk"

ROWS_HEAD = ("row", "counts", "loss now → then", "cost of moving", "of the rise", "what changes most")

OVER = (
    "What it takes to reach each threshold, at the prices of the setting. The dot is the setting; a band, where there is one,"
    " is ± 1.96 standard errors."
)

ALONG = (
    "The threshold of the setting, when moving gets cheaper and reweighting dearer, from left to right: the prices at the ends"
    " are not those of the setting."
)

UNEVEN = "How unevenly rows count: the further above the diagonal, the fewer rows carry the weight."

SHORT_BARS = "Short bars are sensitive features; the dashed line is the limit."

STOPPED = "The ranking was interrupted: features that it had not come to are missing."

SAME_QUESTION = "The same rows, the same prices, the same threshold."

LONG_BARS = "Long bars are stable models; lines are ± 1.96 standard errors of sampling."

BY_VALUE = "The largest stability found first"

DIFFERENCES = "Differences, with paired standard errors"

MADE_FROM = "Model, data, settings and versions"

WHAT = ("what", "value")

"""Of a difference, where nobody has certified which of the two models is the more stable one."""
