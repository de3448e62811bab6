"""PyTorch modules on data: which oracle answers for which space, method and loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from torch import nn

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray
from tippingpoint.core.oracle import Oracle
from tippingpoint.data.frames import Features
from tippingpoint.data.vectors import read_vector
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.families.base import Judgement, Margins, Shared, told_apart
from tippingpoint.families.network.column.coordinate import ColumnErrorOracle, coordinate_oracle, serves
from tippingpoint.families.network.column.lines import Chain
from tippingpoint.families.network.options import EFFORTS, NetworkOptions
from tippingpoint.families.network.outputs import UserLoss
from tippingpoint.families.network.proofs.certifiers import GateCertifier, steepness_certifier
from tippingpoint.families.network.proofs.chains import hidden_layer
from tippingpoint.families.network.proofs.gates import gate_search
from tippingpoint.families.network.proofs.nearest import proved_errors
from tippingpoint.families.network.proofs.ranges import HiddenLayer
from tippingpoint.families.network.proofs.shells import steepness
from tippingpoint.families.network.search.errors import Errors
from tippingpoint.families.network.search.explorer import Explorer, Guide, some_of
from tippingpoint.families.network.search.nearest import SearchedErrorOracle, searched_errors
from tippingpoint.families.network.search.oracle import Certifier, Setting, Uncertified, explored
from tippingpoint.families.network.search.paper import PaperOracle
from tippingpoint.families.network.search.scores import Scores
from tippingpoint.families.network.trial import TriedModule, try_out
from tippingpoint.losses import Loss
from tippingpoint.query.noise import Noise
from tippingpoint.query.others import Others
from tippingpoint.query.queried import QueriedModel
from tippingpoint.space.domain import Domain
from tippingpoint.text import LIPSCHITZ

PROOF_SECONDS = 10.0
"""What the default method gives to proofs of the 0/1 loss; the paper's network takes a quarter of one."""

TOTAL_STARTS, MAX_STARTS = 1000, 8
"""Random starts of all samples together, at every price, and the most for each."""


class NetworkJudgement(Judgement):
    """A PyTorch module."""

    searched = True

    def __init__(
        self,
        module: nn.Module,
        features: Features,
        y: Any,
        loss: str | Loss | UserLoss | None,
        given: Mapping[str, Any],
        labels: tuple[Any, ...] | None = None,
        shared: Shared | None = None,
    ) -> None:
        self._options = NetworkOptions.read(given)
        self._shared = shared
        self._tried = try_out(module, features, y, loss, self._options, labels)
        self._sample: TriedModule | None = None
        if shared is not None:
            alike = partial(self._tried.on, loss=loss, classes=self._options.classes, labels=labels)
            self._sample = alike(shared.features, shared.y)
            some = _guides(self._sample.reading.labels, len(shared.features.x))
            guides = alike(shared.features.take(some), read_vector(shared.y, "y", len(shared.features.x))[some])
            self._tried = replace(self._tried, guides=guides)
        self._reading = reading = self._tried.reading
        self._features = features
        if reading.loss.needs_crossing:
            for name in ("inner_steps", "learning_rate"):
                if name in given:
                    raise InputError(
                        f"{name}={given[name]!r} has no effect with the 0/1 loss, of which the paper takes nearest errors as"
                        " given; leave it out."
                    )
        self.notes: tuple[str, ...] = self._tried.call.notes
        self.label: str = reading.label
        self.range: tuple[float, float] = reading.range

    def oracle(self, domain: Domain) -> Oracle:
        """Queried where features jump; else searched: along a path of prices, for nearest errors, or as the paper does."""
        options, reading = self._options, self._reading
        if domain.mixed:
            return self._queried(domain)
        scores = self._tried.scores(domain)
        everyone = np.arange(scores.samples)
        if options.method == "paper" and not reading.loss.needs_crossing:
            setting = self._setting(scores, scores.values(everyone, scores.staying(everyone)), domain)
            return PaperOracle(setting, options.schedule, progress=options.progress)
        layer = self._hidden_layer
        if options.method == "exact" and layer is None:
            raise UnsupportedError(
                "method='exact' serves one hidden layer of ReLUs with one output, and a loss known by name; use method='path',"
                " which searches, and bounds from below where it can."
            )
        restarts = self._restarts(scores.samples if self._shared is None else self._shared.total)
        guide = self._guide(domain, restarts)
        explorer = Explorer(scores, reading.loss, reading.labels, options.seed, restarts, reading.leads, guide)
        setting = self._setting(scores, explorer.now, domain)
        certifier = self._steepness(domain, setting)
        if reading.loss.needs_crossing:
            nearest = self._nearest_errors(explorer, setting, layer, certifier, domain)
            if options.method == "paper":
                return PaperOracle(setting, options.schedule, nearest, progress=options.progress)
            return nearest
        if options.method == "exact" and layer is not None:
            searches = [gate_search(layer, setting, self._features.x, domain, rise, everyone) for rise in reading.rises]
            certifier = GateCertifier(searches, options.tolerance, options.time_limit, certifier)
        return explored(explorer, setting, certifier, progress=options.progress)

    def along(self, domain: Domain) -> Oracle:
        """Exact along one column of a network of piecewise-linear layers, and where every place can be tried."""
        if domain.mixed or self._options.method == "paper" or len(domain.free) != 1 or self._lines is None:
            return self.oracle(domain)
        (j,), x, tried = domain.free, self._features.x, self._tried
        low, high = (bound[:, 0] - x[:, j] for bound in domain.bounds(x, domain.free))
        lines, entered = self._lines
        oracle = coordinate_oracle(
            x,
            int(j),
            float(domain.price[j]),
            lines.along(entered, int(j), low, high),
            self._reading.rises,
            domain.names,
            domain.unit,
            margin=tried.staying.rounding,
            wrong=tried.now >= 0.0,
        )
        if isinstance(oracle, ColumnErrorOracle):

            def errs(rows: IntArray, steps: FloatArray) -> BoolArray:
                places = x[rows]
                places[:, j] += steps
                return np.asarray(tried.at(rows, places) >= 0.0)

            oracle.land(errs, low, high)
        return oracle

    def margins(self, domain: Domain) -> Margins:
        """Of a chain of layers, which is no steeper than they are; of any other module nothing is known of what shifts cost."""
        reading, tried = self._reading, self._tried
        steepest = None
        if tried.layers is not None and reading.rises:
            functionals = np.concatenate([rise.functionals for rise in reading.rises])
            steepest = steepness(tried.layers, self._features.shape, domain.relaxed(), functionals)
        v = told_apart(tried.now, tried.now >= 0.0) if reading.loss.needs_crossing else tried.now
        return Margins(v, reading.loss) if steepest is None else Margins(v, reading.loss, steepest**2, LIPSCHITZ)

    def _queried(self, domain: Domain) -> Oracle:
        """Where features jump a module is queried like any other model: gradients lead between the places there are."""
        options = self._options
        if options.method != "path":
            raise UnsupportedError(
                f"method={options.method!r} moves numbers only, and some features here are categories or whole numbers; use"
                " method='path', or a Space of numbers."
            )
        reason = "a network in a space of categories or whole numbers"
        others, tried = None, self._sample
        if self._shared is not None and tried is not None:
            others = Others(tried.features.x, tried.reading.labels, tried.now, self._shared.numbers)
        model = QueriedModel(self._tried.queried, self._features.x, reason, Noise(), options.seed, options.progress, others)
        # What bounds the space in which everything moves freely bounds this one.
        certifier = self._steepness(domain.relaxed(), self._setting(self._tried.staying, self._tried.now, domain))
        return model.oracle(domain, {}, certifier.certify)

    def _nearest_errors(
        self, explorer: Explorer, setting: Setting, layer: HiddenLayer | None, steepness: Certifier, domain: Domain
    ) -> SearchedErrorOracle:
        """The nearest errors, proved over the gates where there is one hidden layer."""
        options = self._options
        errors = Errors.unknown(setting.scores, np.flatnonzero(setting.now < 0.0))
        found = searched_errors(explorer, setting, errors, steepness, progress=options.progress)
        if layer is None or not len(errors.rows) or options.certify == "none" or found.notes:
            return found
        gates = gate_search(layer, setting, self._features.x, domain, self._reading.rises[0], errors.rows)
        seconds = options.time_limit if options.method == "exact" else PROOF_SECONDS
        return proved_errors(setting, errors, gates, steepness, tolerance=options.tolerance, seconds=seconds)

    def _setting(self, scores: Scores, now: FloatArray, domain: Domain) -> Setting:
        kept = replace(self._features, native=None)  # what the user gave is not pickled a second time
        return Setting(scores, self._reading.loss, now, kept, domain.unit, domain.farthest(self._features.x))

    def _steepness(self, domain: Domain, setting: Setting) -> Certifier:
        if self._features.inputs is not None:
            return Uncertified("inputs given by name are searched only; nothing bounds the layers behind them")
        work = EFFORTS[self._options.certify]
        return steepness_certifier(self._tried.layers, self._features, domain, self._reading, setting, work)

    def _guide(self, domain: Domain, restarts: int) -> Guide | None:
        """Of a partition: where samples of the whole data go."""
        tried = self._tried.guides
        if tried is None or self._shared is None:
            return None
        reading, seed = tried.reading, self._options.seed
        explorer = Explorer(tried.scores(domain), reading.loss, reading.labels, seed, restarts, reading.leads)
        return Guide(explorer, self._shared.numbers)

    def _restarts(self, samples: int) -> int:
        """Random starts are cheap for few samples, and where few have been where others could go they are needed."""
        if self._options.restarts is not None:
            return self._options.restarts
        return max(min(TOTAL_STARTS // samples, MAX_STARTS), int(self._reading.labels is None))

    @cached_property
    def _hidden_layer(self) -> HiddenLayer | None:
        """The module as one hidden layer of ReLUs with one output; None where it is anything else."""
        layers = self._tried.layers
        return hidden_layer(layers, self._features.x.shape[1]) if layers is not None and self._reading.rises else None

    @cached_property
    def _lines(self) -> tuple[Chain, FloatArray] | None:
        """The layers as lines along any column, and the samples where they enter them; None where they are anything else."""
        if self._tried.layers is None or not serves(self._reading.rises):
            return None
        found = Chain.of(self._tried.layers, self._features.x.shape[1])
        return None if isinstance(found, str) else (found, found.enter(self._features.x))


def _guides(labels: IntArray | None, rows: int) -> IntArray:
    """Of a sample of so many rows, those that guide others: some of every label; some of all where there are none."""
    if labels is None:
        return some_of(np.arange(rows))
    return np.sort(np.concatenate([some_of(np.flatnonzero(labels == one)) for one in np.unique(labels)]))
