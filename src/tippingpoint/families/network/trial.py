"""A module tried out: whether it can be searched, where it runs, and what its outputs mean for a loss."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from tippingpoint.cached import cached_property
from tippingpoint.core.arrays import FloatArray, IntArray, blocks
from tippingpoint.data.frames import Features
from tippingpoint.errors import InputError, OutputWarning
from tippingpoint.families.network.calling import Call, call_of
from tippingpoint.families.network.options import NetworkOptions
from tippingpoint.families.network.outputs import OutputReading, UserLoss, check_logits, read_outputs
from tippingpoint.families.network.proofs.chains import chain
from tippingpoint.families.network.search.scores import EVEN_ROWS, Scores, filled
from tippingpoint.foreign import guarded
from tippingpoint.losses import Loss
from tippingpoint.preprocessing.modules import input_dtype
from tippingpoint.query.reading import ScoreReading
from tippingpoint.space import Space
from tippingpoint.space.domain import Domain

MIN_SCORES = 20
"""Fewer outputs than this may lie between 0 and 1 by chance."""

TRIAL_ROWS = 64
"""Rows on which a module is tried out."""


@dataclass(frozen=True)
class TriedModule:
    """A module on data, and what was learnt of it.

    Attributes
    ----------
    call, device
        The module, as it is called, and where it runs.
    features
        The data.
    batch
        Rows that it sees at once, where the user says so.
    reading
        What its outputs mean.
    layers
        The module as a chain of layers; None where it is anything else.
    guides
        The same on some rows of the whole data, where these are a part of them.
    """

    call: Call
    device: torch.device
    features: Features
    batch: int | None
    reading: OutputReading
    layers: nn.Sequential | None
    guides: TriedModule | None = None

    def scores(self, domain: Domain) -> Scores:
        """Its scores on samples that move within a domain."""
        scores = Scores(self.call, self.reading.pushed, self.features.x, domain, self.device, self.batch)
        if self.guides is not None:  # what counts as an error must not depend on the rows beside it
            scores.rounding = self.guides.scores(domain).rounding
            scores.even = min(scores.batch, EVEN_ROWS)
        return scores

    def on(
        self,
        features: Features,
        y: Any,
        loss: str | Loss | UserLoss | None,
        classes: Sequence[Any] | None,
        labels: tuple[Any, ...] | None,
    ) -> TriedModule:
        """The same on other rows."""
        call = call_of(self.call.module, features, self.device)
        outputs = _count(_output(call, *_some(features, self.device, call.module)))
        reading = read_outputs(y, len(features.x), loss, outputs, classes, self.device, labels)
        return replace(self, call=call, features=features, reading=reading, guides=None)

    @cached_property
    def staying(self) -> Scores:
        """Its scores where nothing moves."""
        return self.scores(Space(movable=[]).resolve(self.features.names))

    @cached_property
    def now(self) -> FloatArray:
        """`v` where the samples are."""
        rows = np.arange(len(self.features.x))
        return self.staying.values(rows, self.staying.staying(rows))

    def at(self, rows: IntArray, places: FloatArray) -> FloatArray:
        """`v` of these samples at these places, by the module itself."""
        found = np.empty(len(rows))
        with torch.no_grad():
            even = self.staying.even
            for part in blocks(len(rows), even or self.batch or self.staying.batch):
                shown = filled(part, even)
                inputs = torch.tensor(places[shown], dtype=input_dtype(self.call.module), device=self.device)  # a copy of it
                scores = self.staying.scored(inputs, rows[shown])
                found[part] = scores.double().cpu().numpy()[: part.stop - part.start]
        return found

    @property
    def queried(self) -> ScoreReading:
        """The reading of the module as a model that is queried row by row."""
        reading = self.reading
        return ScoreReading(reading.loss, reading.label, reading.range, reading.labels, self.at)


def try_out(
    module: nn.Module,
    features: Features,
    y: Any,
    loss: str | Loss | UserLoss | None,
    options: NetworkOptions,
    labels: tuple[Any, ...] | None = None,
) -> TriedModule:
    """The module on these data, judged by this loss; an error where it cannot be. `labels` are those of all data, of a part."""
    if torch.is_inference_mode_enabled():
        raise InputError("networks are searched by their gradients; leave torch.inference_mode() first (no_grad() is fine).")
    features.check_numbers()
    _check_mode(module)
    device = _device(module, options.device)
    if options.device is not None and device != _home(module):
        module = copy.deepcopy(module).to(device)  # the user's own stays where it is
    call = call_of(module, features, device)
    some, rows = _some(features, device, module)
    output = _output(call, some, rows)
    reading = read_outputs(y, len(features.x), loss, _count(output), options.classes, device, labels)
    layers = chain(module, some.reshape(-1, *features.shape)) if features.inputs is None else None
    check_logits(reading, layers)
    _check_range(reading, layers, call, some, rows)
    return TriedModule(call, device, features, options.batch, reading, layers)


def _check_mode(module: nn.Module) -> None:
    """Refuse layers whose answer depends on the rest of the batch, or on chance."""
    for name, layer in module.named_modules():
        kind, rate = type(layer).__name__, getattr(layer, "dropout", None)  # attention has a rate, and no layer of its own
        drops = "Dropout" in kind or (isinstance(rate, float) and rate > 0.0)
        if layer.training and (drops or "BatchNorm" in kind):
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


def _some(features: Features, device: torch.device, module: nn.Module) -> tuple[Tensor, IntArray]:
    """Some rows, as numbers in the module's precision, and which they are."""
    rows = np.linspace(0, len(features.x) - 1, min(TRIAL_ROWS, len(features.x))).astype(np.intp)
    return torch.from_numpy(features.x[rows]).to(device, input_dtype(module)), rows


def _output(call: Call, numbers: Tensor, rows: IntArray) -> Tensor:
    """What a module returns for a few rows; or an error that says what it did instead."""
    with guarded(lambda why: InputError(f"the module fails on {call.shown(len(rows))}: {why}.")), torch.no_grad():
        output = call(numbers.clone(), rows)  # it may work in place
    if not isinstance(output, Tensor):
        raise InputError(
            f"the module returns a {type(output).__name__}; it must return one tensor, its logits or predictions, or an object"
            " that holds them as .logits."
        )
    if output.ndim not in (1, 2) or len(output) != len(rows) or output.shape[-1] == 0:
        raise InputError(
            f"the module returns shape {tuple(output.shape)} for {len(rows)} rows; it must be ({len(rows)},),"
            f" ({len(rows)}, 1) or ({len(rows)}, classes)."
        )
    if not output.dtype.is_floating_point:
        raise InputError(f"the module returns {output.dtype}; it must return logits or predictions as floats, not classes.")
    return output


def _count(output: Tensor) -> int:
    """Outputs a row."""
    return 1 if output.ndim == 1 else int(output.shape[1])


def _check_range(reading: OutputReading, layers: nn.Sequential | None, call: Call, numbers: Tensor, rows: IntArray) -> None:
    """Warn where scores of a classifier look like probabilities, the layers do not tell, and it would make a difference."""
    several = bool(reading.leads)
    ranked = several and reading.loss.name == "zero_one"  # probabilities and logits are in one order
    if reading.loss.task != "classification" or not reading.rises or layers is not None or ranked:
        return
    with guarded(lambda why: InputError(f"the module fails when asked again ({why}).")), torch.no_grad():
        scores = call(numbers.clone(), rows)
    if scores.numel() < MIN_SCORES or not bool(((scores >= 0.0) & (scores <= 1.0)).all()):
        return
    if not several:
        warnings.warn(
            "every output of the module lies between 0 and 1; if these are probabilities, pass the module without its sigmoid:"
            " scores are logits here, and above 0 means the second class.",
            OutputWarning,
            stacklevel=2,
        )
    elif bool(torch.isclose(scores.sum(1), scores.new_ones(()), atol=1e-4).all()):
        warnings.warn(
            "the outputs of the module lie between 0 and 1 and sum to 1 in every row; if these are probabilities, pass it"
            " without its softmax: scores are logits here, and a softmax is taken of them.",
            OutputWarning,
            stacklevel=2,
        )
