"""What the outputs of a forest mean under a loss: the loss of every sample at outputs, and the sides on which it is pushed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.families.trees.forest import Forest
from tippingpoint.families.trees.kernels import kernels
from tippingpoint.families.trees.reading import TreeReading, Unread
from tippingpoint.families.trees.search.pushing import Kind, Link, ScoreLoss, Sides
from tippingpoint.losses import Loss, PiecewiseLinear
from tippingpoint.losses.logistic import Logistic
from tippingpoint.losses.quadratic import Huber, Squared, SquaredHinge

MIN_PROBABILITY = 1e-15
"""Probabilities are kept this far from 0 and 1: their logarithms are finite then. As for any other model that tells them."""

TIE = 1e-9
"""Scores of two classes this close, relative to the largest leaves, are a tie, which the first of them wins."""

TABLE_POINTS = 4097
"""At which a loss that is known by its values only is looked at; between them a straight line lies above it."""

CONVEXITY_SLACK = 1e-9
"""Relative, by which such values may miss being convex by rounding."""

Directions = tuple[IntArray, FloatArray, FloatArray, IntArray, list[ScoreLoss]]
"""Of sides: the sample, weights, offset and number of the loss; and the losses."""


@dataclass(frozen=True)
class Judge:
    """A loss of the outputs of a forest, for samples of known labels or targets.

    Attributes
    ----------
    reading
        Of the model.
    loss
        What it is judged by.
    index
        The true class of every sample; None where there are targets.
    target
        The targets; None where there are classes.
    """

    reading: TreeReading
    loss: Loss
    index: IntArray | None
    target: FloatArray | None

    def wrong(self, rows: IntArray, predicted: Any) -> FloatArray:
        """1 where the model predicts another label than that of the sample; its labels are those of the reading."""
        place = {label: k for k, label in enumerate(self.reading.classes or ())}
        found = np.array([place.get(label, -1) for label in np.asarray(predicted).ravel().tolist()], dtype=np.intp)
        return np.asarray(found != np.asarray(self.index)[rows], dtype=float)

    def apart(self, outputs: FloatArray) -> BoolArray:
        """Where the class that is predicted is ahead of all others, however the library rounds."""
        if outputs.shape[1] == 1:
            return np.abs(outputs[:, 0]) > self.reading.rounding
        highest = np.sort(outputs, axis=1)[:, -2:]
        return np.diff(highest, axis=1)[:, 0] > 2.0 * self.reading.rounding + TIE * _largest_leaves(self.reading.forest)

    def losses(self, rows: IntArray, outputs: FloatArray) -> FloatArray:
        """Of these samples, at outputs of the forest or of the library."""
        if self.target is not None:
            return np.asarray(self.loss.value(self.target[rows] - self._predicted(outputs[:, 0])))
        own = np.asarray(self.index)[rows]
        if self.loss.needs_crossing:
            return np.asarray(_labels(outputs) != own, dtype=float)
        return self.loss.value(self._ahead(outputs, own))

    def margins(self, outputs: FloatArray) -> FloatArray:
        """`v` of all samples at outputs of the forest, of which the loss is a function."""
        if self.target is not None:
            return np.asarray(self.target - self._predicted(outputs[:, 0]))
        own = np.asarray(self.index)
        if not self.loss.needs_crossing:
            return self._ahead(outputs, own)
        if outputs.shape[1] == 1:
            return np.where(own > 0, -outputs[:, 0], outputs[:, 0])
        mine, others = _own_and_others(outputs, own)
        return np.asarray(np.max(others, axis=1) - mine)

    def _predicted(self, output: FloatArray) -> FloatArray:
        """From the output of a regressor to what it predicts."""
        if self.reading.link == "log":
            return np.exp(output)
        return 1.0 / (1.0 + np.exp(-output)) if self.reading.link == "logit" else output

    def _ahead(self, outputs: FloatArray, own: IntArray) -> FloatArray:
        """By how much the other classes are ahead of the true one."""
        if outputs.shape[1] == 1:
            return np.where(own > 0, -outputs[:, 0], outputs[:, 0])
        mine, others = _own_and_others(outputs, own)
        if self.reading.returns == "score":
            ahead = logsumexp(others, axis=1) if isinstance(self.loss, Logistic) else np.max(others, axis=1)
            return np.asarray(ahead - mine)
        rivals = 1.0 - mine if isinstance(self.loss, Logistic) else np.max(others, axis=1)
        return np.log(np.clip(rivals, MIN_PROBABILITY, 1.0)) - np.log(np.clip(mine, MIN_PROBABILITY, 1.0))

    def sides(self, outputs: FloatArray, rounding: float) -> Sides | Unread:
        """The directions in which samples are pushed.

        Parameters
        ----------
        outputs
            Of the samples as they are.
        rounding
            By which scores count as higher than they are: that of the library's own sums, for bounds that hold of them too.
        """
        if self.of_rivals:
            found = self._of_rivals(outputs, rounding)
        else:
            found = self._regression() if self.target is not None else self._classification(rounding)
        if isinstance(found, Unread):
            return found
        sample, weights, offset, number, losses = found
        order = np.argsort(sample, kind="stable")
        begins = np.searchsorted(sample[order], np.arange(len(self) + 1)).astype(np.int32)
        raised = offset + rounding * np.abs(weights).sum(axis=1)
        return Sides(begins, weights[order], raised[order], number[order].astype(np.int32), tuple(losses))

    def highest(self, sides: Sides) -> FloatArray:
        """A bound on the loss of any place of every sample: on each side, tree by tree the best leaf."""
        low, high = (each.sum(axis=0) for each in self.reading.forest.leaf_ranges)
        if self.of_rivals:
            ahead = [np.delete(high - low[k], k) + loss.numbers[1:] for k, loss in enumerate(sides.losses)]
            losses = np.array([logsumexp([0.0, *each]) for each in ahead])
            return np.asarray(losses[np.asarray(self.index)])
        best = np.where(sides.weights > 0.0, high, low)
        score = sides.offset + sides.weights @ self.reading.forest.base + (sides.weights * best).sum(axis=1)
        losses = np.empty(len(score))
        for number, loss in enumerate(sides.losses):
            of_it = sides.loss == number
            losses[of_it] = loss.value(score[of_it])
        return np.asarray(np.maximum.reduceat(losses, sides.begins[:-1]))

    def __len__(self) -> int:
        return len(self.index if self.index is not None else np.asarray(self.target))

    def _regression(self) -> Directions | Unread:
        """Predictions are pushed down, and up."""
        target = np.asarray(self.target)
        everyone, link = np.arange(len(target)), self.reading.link
        weights = np.repeat([[-1.0], [1.0]], len(target), axis=0)
        sample = np.concatenate([everyone, everyone])
        inner = [self._rising(self.loss), self._rising(self.loss.mirrored())]
        for each in inner:
            if isinstance(each, Unread):
                return each
        losses = [each for each in inner if isinstance(each, ScoreLoss)]
        if link == "identity":
            return sample, weights, np.concatenate([target, -target]), np.repeat([0, 1], len(target)), losses
        links = (Link.EXP_DOWN, Link.EXP_UP) if link == "log" else (Link.LOGISTIC_DOWN, Link.LOGISTIC_UP)
        linked = [
            ScoreLoss(Kind.LINKED, (float(way), float(each), float(loss.kind), *loss.numbers))
            for way, loss in zip(links, losses, strict=True)
            for each in target
        ]
        return sample, weights, np.zeros(2 * len(target)), np.arange(2 * len(target)), linked

    def _classification(self, rounding: float) -> Directions | Unread:
        """Away from the true class, towards every other one."""
        own, outputs = np.asarray(self.index), self.reading.forest.outputs
        if self.reading.returns == "probability" and not self.loss.needs_crossing:
            return self._of_probabilities(own)
        loss = self._rising_of_classes()
        if isinstance(loss, Unread):
            return loss
        everyone = np.arange(len(own))
        if outputs == 1:  # libraries differ in whose a score of 0 is, so that it counts as an error of either
            weights = np.where(own > 0, -1.0, 1.0)[:, None]
            return everyone, weights, np.zeros(len(own)), np.zeros(len(own), dtype=np.intp), [loss]
        tie = self._tie(rounding)
        sample, rival = np.nonzero(np.arange(outputs)[None, :] != own[:, None])
        unit = np.eye(outputs)
        wins = own[sample] < rival  # of two classes that are level the first is chosen
        return sample, unit[rival] - unit[own[sample]], np.where(wins, -tie, 0.0), np.zeros(len(sample), dtype=np.intp), [loss]

    @property
    def of_rivals(self) -> bool:
        """Whether the loss is one of all rivals' scores at once: the cross-entropy of several classes."""
        several = self.reading.returns == "score" and self.reading.forest.outputs > 2
        return several and isinstance(self.loss, Logistic)

    def _of_rivals(self, outputs: FloatArray, rounding: float) -> Directions | Unread:
        """Towards a mixture of the other classes, each by how likely it is now."""
        if kernels() is None:
            return Unread("the cross-entropy of several classes takes the compiled kernels, which are not here")
        own, base = np.asarray(self.index), self.reading.forest.base
        others = np.where(np.arange(len(base)) == own[:, None], -np.inf, outputs)
        mixture = softmax(others, axis=1)
        weights = mixture - np.eye(len(base))[own]
        ahead = [np.delete(base - base[k], k) + 2.0 * rounding for k in range(len(base))]
        losses = [ScoreLoss(Kind.SOFTMAX, (float(k), *ahead[k].tolist())) for k in range(len(base))]
        return np.arange(len(own)), weights, np.zeros(len(own)), own, losses

    def _rising_of_classes(self) -> ScoreLoss | Unread:
        """The loss of how far a rival is ahead, where that is all that it depends on."""
        if self.reading.returns == "order" and not self.loss.needs_crossing:
            return Unread(f"its scores tell which class, and not how likely it is, as the {self.loss.label} loss asks")
        if self.loss.falls:
            return Unread(f"the {self.loss.label} loss of a classifier falls where it should rise")
        return self._rising(self.loss)

    def _tie(self, rounding: float) -> float:
        """What a rival must be ahead by, that would lose a tie; where sums are rounded more than that, a tie is any rival's."""
        if not self.loss.needs_crossing:
            return 0.0
        tie = TIE * _largest_leaves(self.reading.forest)
        return tie if rounding < tie else 0.0

    def _of_probabilities(self, own: IntArray) -> Directions | Unread:
        """Losses of the log-odds of the true class."""
        outputs = self.reading.forest.outputs
        weights, offset = -np.eye(outputs)[own], np.ones(len(own))
        everyone, first = np.arange(len(own)), np.zeros(len(own), dtype=np.intp)
        if isinstance(self.loss, Logistic):
            return everyone, weights, offset, first, [ScoreLoss(Kind.ODDS, (MIN_PROBABILITY,))]
        if outputs > 2:
            return Unread(
                f"the {self.loss.label} loss of the odds of {outputs} classes is not one number that its trees add up"
            )
        inner = self._rising(self.loss)
        if isinstance(inner, Unread):
            return inner
        numbers = (float(Link.LOGIT), MIN_PROBABILITY, float(inner.kind), *inner.numbers)
        return everyone, weights, offset, first, [ScoreLoss(Kind.LINKED, numbers)]

    def _rising(self, loss: Loss) -> ScoreLoss | Unread:
        """The part of a loss that rises, as a loss of a pushed score; below its least it is level."""
        if loss.needs_crossing:
            return ScoreLoss(Kind.STEP)
        if isinstance(loss, Logistic):
            return ScoreLoss(Kind.LOGISTIC)
        if isinstance(loss, Squared | SquaredHinge):
            return ScoreLoss(Kind.SQUARE, (0.0 if isinstance(loss, Squared) else 1.0,))
        if isinstance(loss, Huber):
            return ScoreLoss(Kind.HUBER, (loss.delta,))
        if isinstance(loss, PiecewiseLinear):
            rises = loss.slopes > 0.0
            slopes, offsets = [0.0, *loss.slopes[rises]], [loss.range[0], *loss.offsets[rises]]
            return ScoreLoss(Kind.PIECES, (*slopes, *offsets))
        return self._tabled(loss)

    def _tabled(self, loss: Loss) -> ScoreLoss | Unread:
        """A loss that is known by its values only, over all scores there are."""
        low, high = self._range()
        points = np.linspace(low, high, TABLE_POINTS)
        values = loss.value(points)
        values = np.where(np.arange(TABLE_POINTS) < values.argmin(), values.min(), values)
        if (np.diff(values, 2) < -CONVEXITY_SLACK * np.abs(values).max()).any():
            return Unread(f"the {loss.label} loss is not convex, and not one that is known here")
        return ScoreLoss(Kind.TABLE, (*points.tolist(), *values.tolist()))

    def _range(self) -> tuple[float, float]:
        """Between which all pushed scores lie, on either side."""
        most = float(np.abs(self.reading.forest.base).max() + _largest_leaves(self.reading.forest)) * 2.0 + 1.0
        if self.target is not None:
            most += float(np.abs(self.target).max())
        if self.reading.returns == "probability":
            most = -float(np.log(MIN_PROBABILITY)) + 1.0
        return -most, most


def _own_and_others(outputs: FloatArray, own: IntArray) -> tuple[FloatArray, FloatArray]:
    """The output of every sample's own class; and all outputs without it."""
    mine = np.take_along_axis(outputs, own[:, None], axis=1)[:, 0]
    others = outputs.copy()
    np.put_along_axis(others, own[:, None], -np.inf, axis=1)
    return mine, others


def _labels(outputs: FloatArray) -> IntArray:
    """The class that is predicted; of one score the second where it is above 0."""
    return (outputs[:, 0] > 0.0).astype(np.intp) if outputs.shape[1] == 1 else outputs.argmax(axis=1)


def _largest_leaves(forest: Forest) -> float:
    """The sum over trees of the largest leaf, by its size."""
    low, high = forest.leaf_ranges
    return float(np.maximum(-low, high).max(axis=1).sum())
