"""PyTorch modules: what their output means, which loss judges it, and how they are searched."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from torch import nn

from tippingpoint.core.arrays import FloatArray, IntArray
from tippingpoint.errors import InputError, UnsupportedError
from tippingpoint.frames import Features, read_labels, read_numbers, read_vector
from tippingpoint.losses import Loss, PiecewiseLinear, loss_named
from tippingpoint.models.chains import chain, hidden_layer
from tippingpoint.models.labels import class_indices
from tippingpoint.oracles.base import Oracle
from tippingpoint.oracles.network.certificates import reason, shells
from tippingpoint.oracles.network.certifying import DistanceCertifier, GateCertifier, Slopes, SteepnessCertifier
from tippingpoint.oracles.network.crossing import Errors, land
from tippingpoint.oracles.network.exploring import Explorer, Kin
from tippingpoint.oracles.network.gates import Bounds, GateSearch, HiddenLayer
from tippingpoint.oracles.network.oracle import Certifier, PathOracle, Setting, Uncertified, crossed, explored, with_errors
from tippingpoint.oracles.network.paper import PaperOracle, Schedule
from tippingpoint.oracles.network.scores import Scores, input_dtype
from tippingpoint.space import Domain

METHODS = ("path", "exact", "paper")

QUICK = 10.0
"""Seconds that the default method gives to proofs of the 0/1 loss; the paper's network takes a quarter of one."""

TRIAL_ROWS = 64
"""Rows on which a module is tried out."""

FUNCTIONALS = 2**26
"""Numbers that certificates of all classes may take; beyond it there are none."""

Tensor = torch.Tensor
UserLoss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Search:
    """How a network is searched.

    Attributes
    ----------
    method
        "path" (default), "exact" (proofs, for one hidden layer of ReLUs) or "paper" (the published gradient ascent).
    seed, restarts
        Of the random starts, and how many there are.
    device
        Where the module is to run; where it is, if None.
    batch
        Rows that the module sees at once.
    progress
        Whether to show a bar; None: on a terminal.
    tolerance, time_limit
        Of proofs: relative gap of a sample that counts as proved, and seconds.
    classes
        Labels in the order of the outputs.
    epochs, inner_steps, learning_rate, price_rate
        Of the paper's algorithm.
    """

    method: str = "path"
    seed: int = 0
    restarts: int = 2
    device: Any = None
    batch: int | None = None
    progress: bool | None = None
    tolerance: float = 0.01
    time_limit: float = 60.0
    classes: Sequence[Any] | None = None
    epochs: int = Schedule.epochs
    inner_steps: int = Schedule.inner_steps
    learning_rate: float = Schedule.learning_rate
    price_rate: float = Schedule.price_rate

    PAPER = ("epochs", "inner_steps", "learning_rate", "price_rate")
    PROOFS = ("tolerance", "time_limit")
    SEARCHED = ("seed", "restarts")

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Search:
        """The options of a user, each of them known, sound, and of use to the method chosen."""
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(f"{name}={given[name]!r} is not an option of networks; they are {', '.join(known)}.")
        search = cls(**given)
        if search.method not in METHODS:
            raise InputError(f"method={search.method!r} is not known; use one of {', '.join(METHODS)}.")
        idle = cls.PAPER if search.method != "paper" else (*cls.PROOFS, *cls.SEARCHED)
        for name in idle:
            if name in given:
                raise InputError(f"{name}={given[name]!r} has no effect with method={search.method!r}; leave it out.")
        for name, least in {"seed": 0, "restarts": 0, "epochs": 1, "inner_steps": 1, "batch": 1}.items():
            value = getattr(search, name)
            whole = isinstance(value, Integral) and int(value) >= least
            if not whole and not (name == "batch" and value is None):
                raise InputError(f"{name}={value!r} must be a whole number, {least} or more.")
        for name in ("tolerance", "time_limit", "learning_rate", "price_rate"):
            value = getattr(search, name)
            if not (isinstance(value, Real) and float(value) > 0.0):
                raise InputError(f"{name}={value!r} must be a positive number.")
        return search


@dataclass(frozen=True)
class Judged:
    """A loss with the name and the range that results tell."""

    loss: Loss
    label: str
    range: tuple[float, float]


def network_oracle(
    module: nn.Module,
    features: Features,
    y: Any,
    loss: str | Loss | UserLoss | None,
    domain: Domain,
    options: Mapping[str, Any],
) -> tuple[Oracle, Judged]:
    """The oracle of a module."""
    search = Search.read(options)
    _check_mode(module)
    device = _device(module, search.device)
    if search.device is not None and device != _home(module):
        import copy

        module = copy.deepcopy(module).to(device)  # the user's own stays where it is
    outputs = _trial(module, features, device)
    reading = _read(y, loss, outputs, features, search, device)
    layers = chain(module, _tensor(features, device, module, TRIAL_ROWS))
    _check_logits(reading, layers)
    scores = Scores(module, reading.pushed, features.x, features.shape, domain, device, search.batch)
    judged = Judged(reading.loss, reading.label, reading.range)
    everyone = np.arange(scores.samples)
    if search.method == "paper":
        setting = Setting(scores, reading.loss, scores.values(everyone, scores.none(everyone)), features.names, domain.unit)
        schedule = Schedule(search.epochs, search.inner_steps, search.learning_rate, search.price_rate)
        return PaperOracle(setting, schedule, progress=search.progress), judged
    layer = hidden_layer(layers) if layers is not None and reading.ways else None
    if search.method == "exact" and layer is None:
        raise UnsupportedError(
            "method='exact' serves one hidden layer of ReLUs with one output, and a loss known by name; use method='path',"
            " which searches, and bounds from below where it can."
        )
    explorer = Explorer(scores, reading.loss, reading.kin, search.seed, search.restarts)
    setting = Setting(scores, reading.loss, explorer.now, features.names, domain.unit)
    certifier = _steepness(layers, features, domain, reading, setting)
    if reading.loss.needs_crossing:
        return _crossing(explorer, setting, layer, certifier, reading, features, domain, search), judged
    if search.method == "exact" and layer is not None:
        ways = [_gates(layer, scores, features, domain, way, everyone) for way in reading.ways]
        certifier = GateCertifier(ways, search.tolerance, search.time_limit, certifier)
    return explored(explorer, setting, certifier, progress=search.progress), judged


@dataclass(frozen=True)
class _Way:
    """One way to raise the loss: `f(v)` with `v = constant + functional·output`, or the maximum over several."""

    loss: Loss
    bottom: float
    functionals: FloatArray
    constants: FloatArray
    soft: bool = False


@dataclass(frozen=True)
class _Reading:
    """What a module's output means for a loss.

    Attributes
    ----------
    loss, label, range
        `f`, what it is called, and its least and largest value.
    pushed
        From the output to `v`.
    ways
        How `v` depends on the output; none where only the user's own function knows.
    kin
        Which samples have the same `v` at the same place.
    """

    loss: Loss
    label: str
    range: tuple[float, float]
    pushed: Callable[[Tensor, IntArray], Tensor]
    ways: Sequence[_Way]
    kin: Kin | None


def _read(
    y: Any, loss: str | Loss | UserLoss | None, outputs: int, features: Features, search: Search, device: torch.device
) -> _Reading:
    """The user's loss on this output; `outputs` is the number of logits, 1 for one score."""
    n = len(features.x)
    if callable(loss) and not isinstance(loss, Loss):
        return _own_loss(read_vector(y, "y", n), loss, device)
    if loss is None:
        labels = read_vector(y, "y", n)
        continuous = labels.dtype.kind == "f" and not np.array_equal(labels, np.round(labels))
        loss = "squared" if continuous and outputs == 1 else "zero_one"
    chosen = loss_named(loss)
    if chosen.task == "regression":
        if outputs > 1:
            raise UnsupportedError(
                f"loss={chosen.label!r} judges one output, but the module has {outputs}; wrap the one you mean."
            )
        return _regression(read_numbers(y, "y", n), chosen, device)
    index = _classes(read_labels(y, "y", n), outputs, search.classes)
    return _binary(index, chosen, device) if outputs == 1 else _many(index, outputs, chosen, device)


def _own_loss(y: np.ndarray[Any, Any], own: UserLoss, device: torch.device) -> _Reading:
    if y.dtype.kind not in "biuf":
        raise InputError(f"y holds {y.dtype}, which no tensor does; give numbers to a loss of your own.")
    target = torch.as_tensor(y.astype(np.float32) if y.dtype.kind == "f" else y.astype(np.int64)).to(device)

    def pushed(output: Tensor, rows: IntArray) -> Tensor:
        per_sample = own(output, target[torch.as_tensor(rows, device=device)])
        if not isinstance(per_sample, Tensor) or per_sample.shape != (len(rows),):
            shape = tuple(per_sample.shape) if isinstance(per_sample, Tensor) else type(per_sample).__name__
            raise InputError(
                f"the loss gave {shape} for {len(rows)} rows; it must return one number a row, as with reduction='none'."
            )
        return per_sample

    name = getattr(own, "__name__", type(own).__name__)
    identity = PiecewiseLinear([1.0], [0.0], "classification", name)
    return _Reading(identity, name, (-math.inf, math.inf), pushed, (), None)


def _regression(target: FloatArray, loss: Loss, device: torch.device) -> _Reading:
    wanted = torch.as_tensor(target).to(device)

    def pushed(output: Tensor, rows: IntArray) -> Tensor:
        return wanted[torch.as_tensor(rows, device=device)].to(output.dtype) - output.reshape(len(rows))

    one, each = np.ones((len(target), 1, 1)), target[:, None]
    ways = (_Way(loss, 0.0, -one, each), _Way(loss.mirrored(), 0.0, one, -each))
    kin = Kin(np.zeros(len(target), dtype=np.intp), target)
    return _Reading(loss, loss.label, loss.range, pushed, ways, kin)


def _binary(index: IntArray, loss: Loss, device: torch.device) -> _Reading:
    sign = np.where(index > 0, 1.0, -1.0)
    signs = torch.as_tensor(sign, dtype=torch.float32).to(device)

    def pushed(output: Tensor, rows: IntArray) -> Tensor:
        mine = signs[torch.as_tensor(rows, device=device)].to(output.dtype)
        v = -mine * output.reshape(len(rows))
        if not loss.needs_crossing:
            return v
        # A score of exactly 0 is predicted as the first class: right for it, though on the boundary.
        return v - torch.finfo(v.dtype).tiny * ((v == 0.0) & (mine < 0.0))

    way = _Way(loss, -math.inf, -sign[:, None, None], np.zeros((len(sign), 1)))
    return _Reading(loss, loss.label, loss.range, pushed, (way,), Kin(index, np.zeros(len(sign))))


def _many(index: IntArray, outputs: int, loss: Loss, device: torch.device) -> _Reading:
    """`v`: by how much the other classes are ahead, the best of them or (for the cross-entropy) all of them together."""
    own = torch.as_tensor(index, dtype=torch.int64).to(device)
    soft = loss.name == "logistic"

    def pushed(output: Tensor, rows: IntArray) -> Tensor:
        mine = own[torch.as_tensor(rows, device=device)][:, None]
        others = output.scatter(1, mine, -math.inf)
        ahead = torch.logsumexp(others, dim=1) if soft else others.amax(dim=1)
        return ahead - output.gather(1, mine)[:, 0]

    ways: tuple[_Way, ...] = ()
    if len(index) * outputs * (outputs - 1) <= FUNCTIONALS:
        unit = np.eye(outputs)
        others = np.array([[k for k in range(outputs) if k != mine] for mine in range(outputs)])
        ahead = unit[others] - unit[:, None, :]
        ways = (_Way(loss, -math.inf, ahead[index], np.zeros((len(index), outputs - 1)), soft),)
    return _Reading(loss, loss.label, loss.range, pushed, ways, Kin(index, np.zeros(len(index))))


def _classes(labels: np.ndarray[Any, Any], outputs: int, classes: Sequence[Any] | None) -> IntArray:
    """Which output each label means: numbers count from 0, two labels of one score are in order, others are named."""
    wanted = max(2, outputs)
    whole = labels.dtype.kind in "biuf" and np.array_equal(labels, np.round(labels.astype(float)))
    if classes is None and whole:
        index = labels.astype(np.intp)
        if outputs == 1 and np.isin(index, (-1, 1)).all() and (index == -1).any():
            return (index > 0).astype(np.intp)
        bad = np.flatnonzero((index < 0) | (index >= wanted))
        if len(bad):
            raise InputError(
                f"y[{bad[0]}]={labels[bad[0]]} is out of range: the module has {outputs} output(s), so labels are 0 to"
                f" {wanted - 1}; name others in their order, as classes=[...]."
            )
        return index
    index, _ = class_indices(labels, classes, outputs)
    return index


def _crossing(
    explorer: Explorer,
    setting: Setting,
    layer: HiddenLayer | None,
    steepness: Certifier,
    reading: _Reading,
    features: Features,
    domain: Domain,
    search: Search,
) -> PathOracle:
    """The nearest errors, proved over the gates where there is one hidden layer."""
    errors = Errors.unknown(setting.scores, np.flatnonzero(setting.now < 0.0))
    pool, notes = crossed(explorer, setting, errors, progress=search.progress)
    certifier = steepness
    if layer is not None and len(errors.rows):
        limit = search.time_limit if search.method == "exact" else QUICK
        tolerance = search.tolerance if search.method == "exact" else min(search.tolerance, 1e-3)
        ways = _gates(layer, setting.scores, features, domain, reading.ways[0], errors.rows)
        known = Bounds(np.zeros(len(errors.rows)), -errors.distance, errors.steps)
        found = ways.search(math.inf, known, tolerance=tolerance, deadline=time.monotonic() + limit)
        land(setting.scores, errors, np.arange(len(errors.rows)), found.steps)
        steps = setting.scores.none(np.arange(len(features.x)))
        steps[errors.rows] = errors.steps
        pool = with_errors(setting, steps)
        squared, right = np.zeros(len(features.x)), setting.now < 0.0
        squared[right] = np.maximum(-found.most, 0.0)
        certifier = DistanceCertifier(squared, right, "nearest errors proved over the gates of the hidden layer")
    return PathOracle(explorer, setting, pool, math.inf, certifier, notes)


def _gates(layer: HiddenLayer, scores: Scores, features: Features, domain: Domain, way: _Way, rows: IntArray) -> GateSearch:
    """The search over gates for one way to raise the loss, in units of steps."""
    scaled = layer.weights[:, scores.moves] / np.sqrt(domain.price[scores.moves])
    hidden = features.x[rows] @ layer.weights.T + layer.bias
    direction, constant = way.functionals[rows, 0, 0], way.constants[rows, 0]
    room = scores.room(rows) if scores.bounded else None
    in_steps = HiddenLayer(scaled, layer.bias, layer.outer, layer.offset)
    return GateSearch(in_steps, hidden, direction, constant, way.loss, room)


def _steepness(
    layers: nn.Sequential | None, features: Features, domain: Domain, reading: _Reading, setting: Setting
) -> Certifier:
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
            lines = shells(layers, features.x, features.shape, domain, way.functionals, way.constants)
            if lines is not None:
                found.append(Slopes(way.loss, way.bottom, lines, way.soft))
        return found

    return SteepnessCertifier(build, setting.losses, setting.now < 0.0, reading.loss.needs_crossing)


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
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        raise InputError(f"device={wanted!r} cannot be used here ({str(error).splitlines()[0]}); 'cpu' always can.") from None
    return device


def _tensor(features: Features, device: torch.device, module: nn.Module, rows: int) -> Tensor:
    some = features.x[np.linspace(0, len(features.x) - 1, min(rows, len(features.x))).astype(np.intp)]
    return torch.from_numpy(some).to(device, input_dtype(module)).reshape(len(some), *features.shape)


def _trial(module: nn.Module, features: Features, device: torch.device) -> int:
    """How many outputs the module has, from a few rows; or an error that says what it did instead."""
    inputs = _tensor(features, device, module, TRIAL_ROWS)
    try:
        with torch.no_grad():
            output = module(inputs)
    except Exception as error:
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"the module fails on X as a float tensor of shape {tuple(inputs.shape)}: {told}") from error
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


def _check_logits(reading: _Reading, layers: nn.Sequential | None) -> None:
    """Refuse outputs that were made probabilities already, where that would give wrong numbers."""
    last = type(layers[-1]).__name__ if layers is not None and len(layers) else ""
    soft = reading.loss.name == "logistic"
    if (
        reading.loss.task == "classification"
        and reading.ways
        and (last == "Sigmoid" or (last in ("Softmax", "Softmin") and soft))
    ):
        raise InputError(f"the module ends with {last}, so it returns probabilities; pass it without, its logits are needed.")
