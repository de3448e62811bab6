"""Nearest errors of one hidden layer, proved over its gates."""

from __future__ import annotations

import math
import time

import numpy as np

from tippingpoint.core.oracle import INTERRUPTED
from tippingpoint.families.network.proofs.certifiers import DistanceCertifier
from tippingpoint.families.network.proofs.gates import Bounds, GateSearch
from tippingpoint.families.network.search.errors import Errors, land
from tippingpoint.families.network.search.nearest import SearchedErrorOracle, errs
from tippingpoint.families.network.search.oracle import Certifier, Setting

PROOF_GAP = 1e-3
"""Relative gap to which squared distances are proved; no more work than a coarser one."""

FARTHEST_FACTOR = 100.0
"""Where no error is known it is proved, at least, that none is nearer than so many times the squared distance of the farthest
known: ten times as far."""


def proved_errors(
    setting: Setting, errors: Errors, gates: GateSearch, steepness: Certifier, *, tolerance: float, seconds: float
) -> SearchedErrorOracle:
    """The oracle of the nearest errors that a proof leaves, with the distances that it proved.

    Parameters
    ----------
    setting, errors
        The network, and the nearest errors that were found; the proof finds nearer ones.
    gates
        The search over gates of the samples that are right.
    steepness
        Who bounds distances without a proof.
    tolerance, seconds
        Relative gap at which a sample counts as proved, `PROOF_GAP` at most; and for how long to try.
    """
    samples = setting.scores.samples
    known = np.isfinite(errors.distance)
    spread = float(np.square(setting.scores.places(errors.rows)).sum(axis=1).mean())
    far = FARTHEST_FACTOR * float(errors.distance[known].max(initial=spread))
    least = np.where(known, -errors.distance, -far)
    found = gates.search(
        math.inf,
        Bounds(np.zeros(len(least)), least, errors.steps),
        tolerance=min(tolerance, PROOF_GAP),
        deadline=time.monotonic() + seconds,
    )
    land(setting.scores, errors, np.arange(len(errors.rows)), found.steps)
    steps = setting.scores.staying(np.arange(samples))
    steps[errors.rows] = errors.steps
    squared = np.zeros(samples)
    squared[errors.rows] = np.maximum(-found.most, 0.0)
    if isinstance(steepness, DistanceCertifier):
        squared = np.maximum(squared, steepness.squared)
    end = "" if found.finished else ", which ran out of time"
    by = f"nearest errors bounded by a proof over the gates of the hidden layer{end}"
    cut = not found.finished and not found.stopped
    certifier = DistanceCertifier(squared, setting.now < 0.0, by, cut)
    return SearchedErrorOracle(setting, steps, errs(setting, steps), certifier, (INTERRUPTED,) if found.stopped else ())
