"""PyTorch modules: tried out, read, and handed to the oracle that searches them."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tippingpoint.core.arrays import BoolArray, FloatArray, IntArray, blocks
from tippingpoint.core.oracle import INTERRUPTED, Oracle
from tippingpoint.data.frames import Features
from tippingpoint.errors import InputError, OutputWarning, UnsupportedError
from tippingpoint.families.base import Judgement
from tippingpoint.families.network.column.coordinate import CrossingOracle, coordinate_oracle, serves
from tippingpoint.families.network.column.lines import Chain
from tippingpoint.families.network.options import EFFORTS, NetworkOptions
from tippingpoint.families.network.outputs import Reading, UserLoss, Way, check_logits, read_outputs
from tippingpoint.families.network.proofs.certificates import reason, shells
from tippingpoint.families.network.proofs.certifying import DistanceCertifier, GateCertifier, Slopes, SteepnessCertifier
from tippingpoint.families.network.proofs.chains import chain, hidden_layer
from tippingpoint.families.network.proofs.gates import Bounds, GateSearch, HiddenLayer
from tippingpoint.families.network.search.crossing import Errors, land
from tippingpoint.families.network.search.exploring import Explorer
from tippingpoint.families.network.search.oracle import (
    Certifier,
    PathOracle,
    Setting,
    Uncertified,
    crossed,
    explored,
    with_errors,
)
from tippingpoint.families.network.search.paper import PaperOracle
from tippingpoint.families.network.search.pool import Pool
from tippingpoint.families.network.search.scores import Scores
from tippingpoint.foreign import guarded
from tippingpoint.losses import Loss
from tippingpoint.preprocessing.modules import input_dtype
from tippingpoint.query.noise import Noise
from tippingpoint.query.run import Quest
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain

QUICK = 10.0
"""Seconds that the default method gives to proofs of the 0/1 loss; the paper's network takes a quarter of one."""

SHARP = 1e-3
"""Relative gap to which squared distances are proved; no more work than a coarser one."""

STARTS, MOST_STARTS = 1000, 8
"""Random starts of all samples together, at every price, and the most for each."""

FEW_SCORES = 20
"""Fewer outputs than this may lie between 0 and 1 by chance."""

TRIAL_ROWS = 64
"""Rows on which a module is tried out."""


class NetworkJudgement(Judgement):
    """A PyTorch module."""

    searched = True

    def __init__(
        self, module: nn.Module, features: Features, y: Any, loss: str | Loss | UserLoss | None, options: Mapping[str, Any]
    ) -> None:
        self._search = NetworkOptions.read(options)
        if torch.is_inference_mode_enabled():
            raise InputError(
                "networks are searched by their gradients; leave torch.inference_mode() first (no_grad() is fine)."
            )
        features.check_numbers()
        _check_mode(module)
        self._features = features
        self._device = _device(module, self._search.device)
        if self._search.device is not None and self._device != _home(module):
            import copy

            module = copy.deepcopy(module).to(self._device)  # the user's own stays where it is
        self._module = module
        outputs = _trial(module, features, self._device)
        self._reading = read_outputs(y, len(features.x), loss, outputs, self._search.classes, self._device)
        if self._reading.loss.needs_crossing:
            for name in ("inner_steps", "learning_rate"):
                if name in options:
                    raise InputError(
                        f"{name}={options[name]!r} has no effect with the 0/1 loss, of which the paper takes nearest errors as"
                        " given; leave it out."
                    )
        self.label, self.range = self._reading.label, self._reading.range
        self._layers = chain(module, _tensor(features, self._device, module, TRIAL_ROWS))
        check_logits(self._reading, self._layers)
        _check_range(self._reading, self._layers, module, features, self._device)

    def along(self, domain: Domain) -> Oracle:
        """Exact along one column of a network of piecewise-linear layers, and where every place can be tried."""
        if domain.mixed or self._search.method == "paper" or len(domain.free) != 1 or self._chain is None:
            return self.oracle(domain)
        (j,), x, reading = domain.free, self._features.x, self._reading
        low, high = (bound[:, 0] - x[:, j] for bound in domain.bounds(x, domain.free))
        chain_, entered = self._chain
        rest = self._rest
        oracle = coordinate_oracle(
            x,
            int(j),
            float(domain.price[j]),
            chain_.along(entered, int(j), low, high),
            reading.ways,
            domain.names,
            domain.unit,
            margin=rest.rounding,
            wrong=rest.values(np.arange(len(x)), rest.none(np.arange(len(x)))) >= 0.0,
        )
        if isinstance(oracle, CrossingOracle):

            def errs(rows: IntArray, steps: FloatArray) -> BoolArray:
                places = x[rows]
                places[:, j] += steps
                return np.asarray(self._scored(rows, places) >= 0.0)

            oracle.land(errs, low, high)
        return oracle

    @cached_property
    def _chain(self) -> tuple[Chain, FloatArray] | None:
        """The layers as lines along any column, and the samples where they enter them; None where they are anything else."""
        if self._layers is None or not serves(self._reading.ways):
            return None
        found = Chain.of(self._layers, self._features.x.shape[1])
        return None if isinstance(found, str) else (found, found.enter(self._features.x))

    @cached_property
    def _rest(self) -> Scores:
        """The module's scores where nothing moves."""
        features = self._features
        still = Space(movable=[]).resolve(features.names)
        return Scores(self._module, self._reading.pushed, features.x, features.shape, still, self._device, self._search.batch)

    def _scored(self, rows: IntArray, places: FloatArray) -> FloatArray:
        """`v` of these samples at these places, by the module itself."""
        found = np.empty(len(rows))
        with torch.no_grad():
            for part in blocks(len(rows), self._search.batch or self._rest.batch):
                inputs = torch.tensor(places[part], dtype=input_dtype(self._module), device=self._device)  # a copy of it
                found[part] = self._rest.ask(inputs.reshape(-1, *self._features.shape), rows[part]).double().cpu().numpy()
        return found

    def _tried(self, domain: Domain) -> Oracle:
        """Where features jump a module is asked like any other model: gradients lead between the places there are."""
        search, reading, x = self._search, self._reading, self._features.x
        if search.method != "path":
            raise UnsupportedError(
                f"method={search.method!r} moves numbers only, and some features here are categories or whole numbers; use"
                " method='path', or a Space of numbers."
            )

        reason = "a network in a space of categories or whole numbers"
        quest = Quest(self._scored, x, reading.loss, True, reading.kin, reason, Noise(), search.seed, search.progress)  # noqa: FBT003
        now = self._rest.values(np.arange(len(x)), self._rest.none(np.arange(len(x))))
        setting = Setting(self._rest, reading.loss, now, domain.names, domain.unit)
        # What bounds the space in which everything moves freely bounds this one.
        effort = EFFORTS[search.certify]
        certifier = _steepness(self._layers, self._features, domain.relaxed(), reading, setting, effort)
        return quest.oracle(domain, {}, certifier.certify)

    def oracle(self, domain: Domain) -> Oracle:
        search, reading, features = self._search, self._reading, self._features
        if domain.mixed:
            return self._tried(domain)
        scores = Scores(self._module, reading.pushed, features.x, features.shape, domain, self._device, search.batch)
        everyone = np.arange(scores.samples)
        if search.method == "paper" and not reading.loss.needs_crossing:
            now = scores.values(everyone, scores.none(everyone))
            setting = Setting(scores, reading.loss, now, features.names, domain.unit)
            return PaperOracle(setting, search.schedule, progress=search.progress)
        layers = self._layers
        layer = hidden_layer(layers, features.x.shape[1]) if layers is not None and reading.ways else None
        if search.method == "exact" and layer is None:
            raise UnsupportedError(
                "method='exact' serves one hidden layer of ReLUs with one output, and a loss known by name; use method='path',"
                " which searches, and bounds from below where it can."
            )
        explorer = Explorer(
            scores, reading.loss, reading.kin, search.seed, _restarts(search, reading, scores.samples), reading.rivals
        )
        setting = Setting(scores, reading.loss, explorer.now, features.names, domain.unit)
        certifier = _steepness(layers, features, domain, reading, setting, EFFORTS[search.certify])
        if reading.loss.needs_crossing:
            nearest = _crossing(explorer, setting, layer, certifier, reading, features, domain, search)
            if search.method == "paper":
                return PaperOracle(setting, search.schedule, nearest.pool, progress=search.progress, notes=nearest.notes)
            return nearest
        if search.method == "exact" and layer is not None:
            ways = [_gates(layer, setting, features, domain, way, everyone) for way in reading.ways]
            certifier = GateCertifier(ways, search.tolerance, search.time_limit, certifier)
        return explored(explorer, setting, certifier, progress=search.progress)


def _crossing(
    explorer: Explorer,
    setting: Setting,
    layer: HiddenLayer | None,
    steepness: Certifier,
    reading: Reading,
    features: Features,
    domain: Domain,
    search: NetworkOptions,
) -> PathOracle:
    """The nearest errors, proved over the gates where there is one hidden layer."""
    errors = Errors.unknown(setting.scores, np.flatnonzero(setting.now < 0.0))
    pool, notes = crossed(explorer, setting, errors, progress=search.progress)
    certifier: Certifier = steepness
    if layer is not None and len(errors.rows) and search.certify != "none" and not notes:
        pool, certifier, notes = _proved(setting, errors, layer, steepness, reading, features, domain, search)
    return PathOracle(explorer, setting, pool, (math.inf,), certifier, notes)


def _proved(
    setting: Setting,
    errors: Errors,
    layer: HiddenLayer,
    steepness: Certifier,
    reading: Reading,
    features: Features,
    domain: Domain,
    search: NetworkOptions,
) -> tuple[Pool, Certifier, tuple[str, ...]]:
    """The pool with what a proof over the gates found, the distances that it proved, and what there is to note."""
    exact = search.method == "exact"
    limit, tolerance = (search.time_limit, min(search.tolerance, SHARP)) if exact else (QUICK, SHARP)
    gates = _gates(layer, setting, features, domain, reading.ways[0], errors.rows)
    # Where no error is known it is proved, at least, that none is nearer than ten times the farthest known.
    known = np.isfinite(errors.distance)
    spread = float(np.square(setting.scores.places(errors.rows)).sum(axis=1).mean())
    far = 100.0 * float(errors.distance[known].max(initial=spread))
    least = np.where(known, -errors.distance, -far)
    found = gates.search(
        math.inf, Bounds(np.zeros(len(least)), least, errors.steps), tolerance=tolerance, deadline=time.monotonic() + limit
    )
    land(setting.scores, errors, np.arange(len(errors.rows)), found.steps)
    steps = setting.scores.none(np.arange(len(features.x)))
    steps[errors.rows] = errors.steps
    squared = np.zeros(len(features.x))
    squared[errors.rows] = np.maximum(-found.most, 0.0)
    if isinstance(steepness, DistanceCertifier):
        squared = np.maximum(squared, steepness.squared)
    told = "" if found.finished else ", which ran out of time"
    by = f"nearest errors bounded by a proof over the gates of the hidden layer{told}"
    notes = (INTERRUPTED,) if found.stopped else ()
    return with_errors(setting, steps), DistanceCertifier(lambda: squared, setting.now < 0.0, by), notes


def _gates(layer: HiddenLayer, setting: Setting, features: Features, domain: Domain, way: Way, rows: IntArray) -> GateSearch:
    """The search over gates for one way to raise the loss, in units of steps."""
    scores = setting.scores
    scaled = layer.weights[:, scores.moves] / np.sqrt(domain.price[scores.moves])
    hidden = features.x[rows] @ layer.weights.T + layer.bias
    direction, constant = way.functionals[rows, 0, 0], way.constants[rows, 0]
    room = scores.room(rows) if scores.bounded else None
    in_steps = HiddenLayer(scaled, layer.bias, layer.outer, layer.offset)
    return GateSearch(in_steps, hidden, direction, constant, way.loss, setting.losses[rows], room)


def _steepness(
    layers: nn.Sequential | None, features: Features, domain: Domain, reading: Reading, setting: Setting, work: float
) -> Certifier:
    if not work:
        return Uncertified("none was asked for")
    if not reading.ways:
        return Uncertified("a loss of your own, or this many classes, has no known bound")
    if layers is None:
        return Uncertified("the module is not a chain of layers; an nn.Sequential of known ones would be bounded")
    why = reason(layers, features.shape)
    if why is not None:
        return Uncertified(why)

    def build() -> list[Slopes]:
        found = []
        for way in reading.ways:
            lines = shells(layers, features.x, features.shape, domain, way.functionals, way.constants, work)
            if lines is not None:
                found.append(Slopes(way.loss, lines, way.soft))
        return found

    def nearest() -> FloatArray:
        return np.asarray(np.square(np.min([way.distances() for way in build()], axis=0)))

    if reading.loss.needs_crossing:
        return DistanceCertifier(nearest, setting.now < 0.0)
    return SteepnessCertifier(build, setting.losses)


def _restarts(search: NetworkOptions, reading: Reading, samples: int) -> int:
    """Random starts are cheap for few samples, and where few have been where others could go they are needed."""
    if search.restarts is not None:
        return search.restarts
    return max(min(STARTS // samples, MOST_STARTS), int(reading.kin is None))


def _check_range(
    reading: Reading, layers: nn.Sequential | None, module: nn.Module, features: Features, device: torch.device
) -> None:
    """Warn where one score of a classifier looks like a probability, and the layers do not tell."""
    if reading.loss.task != "classification" or not reading.ways or layers is not None or reading.rivals:
        return
    with guarded(lambda why: InputError(f"the module fails when asked again ({why}).")), torch.no_grad():
        scores = module(_tensor(features, device, module, TRIAL_ROWS))
    if scores.numel() >= FEW_SCORES and bool(((scores >= 0.0) & (scores <= 1.0)).all()):
        warnings.warn(
            "every output of the module lies between 0 and 1; if these are probabilities, pass the module without its sigmoid:"
            " scores are logits here, and above 0 means the second class.",
            OutputWarning,
            stacklevel=2,
        )


def _check_mode(module: nn.Module) -> None:
    """Refuse layers whose answer depends on the rest of the batch, or on chance."""
    for name, layer in module.named_modules():
        kind = type(layer).__name__
        if layer.training and ("Dropout" in kind or "BatchNorm" in kind):
            where = f" ({name})" if name else ""
            raise InputError(
                f"the module has a {kind}{where} in train mode, so its loss is not a fixed function; call .eval() first."
            )


def _home(module: nn.Module) -> torch.device:
    return next((p.device for p in module.parameters()), torch.device("cpu"))


def _device(module: nn.Module, wanted: Any) -> torch.device:
    if wanted is None:
        return _home(module)
    try:
        device = torch.device(wanted)
        torch.zeros(1, device=device)
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:  # each backend refuses in its own way
        raise InputError(f"device={wanted!r} cannot be used here ({str(error).splitlines()[0]}); 'cpu' always can.") from None
    return device


def _tensor(features: Features, device: torch.device, module: nn.Module, rows: int) -> Tensor:
    some = features.x[np.linspace(0, len(features.x) - 1, min(rows, len(features.x))).astype(np.intp)]
    return torch.from_numpy(some).to(device, input_dtype(module)).reshape(len(some), *features.shape)


def _trial(module: nn.Module, features: Features, device: torch.device) -> int:
    """How many outputs the module has, from a few rows; or an error that says what it did instead."""
    inputs = _tensor(features, device, module, TRIAL_ROWS)
    shape = tuple(inputs.shape)
    with guarded(lambda why: InputError(f"the module fails on X as a float tensor of shape {shape}: {why}.")), torch.no_grad():
        output = module(inputs)
    if not isinstance(output, Tensor):
        raise InputError(f"the module returns a {type(output).__name__}; it must return one tensor, its logits or predictions.")
    if output.ndim not in (1, 2) or len(output) != len(inputs) or output.shape[-1] == 0:
        raise InputError(
            f"the module returns shape {tuple(output.shape)} for {len(inputs)} rows; it must be ({len(inputs)},),"
            f" ({len(inputs)}, 1) or ({len(inputs)}, classes)."
        )
    if not output.dtype.is_floating_point:
        raise InputError(f"the module returns {output.dtype}; it must return logits or predictions as floats, not classes.")
    return 1 if output.ndim == 1 else int(output.shape[1])
