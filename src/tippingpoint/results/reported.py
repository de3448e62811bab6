"""What a result that can be reported has, and the report itself."""

from __future__ import annotations

import datetime as dt
import os
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tippingpoint.errors import InputError
from tippingpoint.results.base import Result
from tippingpoint.results.evidence import Evidence
from tippingpoint.writing import write_file

if TYPE_CHECKING:
    from tippingpoint.report.gates import Gate, Judged
    from tippingpoint.results.comparisons import Comparison
    from tippingpoint.results.drift import DriftResult, DriftSeries
    from tippingpoint.results.rankings import FeatureStability


class Reported(Result):
    """A result that can be written as a report: a page that works on its own, Markdown, or JSON."""

    @property
    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Every number and word of the result."""

    @property
    @abstractmethod
    def _evidence(self) -> Evidence:
        """What a fresh result can still work out; an error for one that was read from JSON."""

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        features: FeatureStability | None = None,
        comparison: Comparison | None = None,
        drifts: DriftResult | DriftSeries | None = None,
        model: str | None = None,
        data: str | None = None,
        title: str | None = None,
        gate: float | Gate | Judged | None = None,
        date: str | dt.date | None = None,
        model_file: str | os.PathLike[str] | None = None,
        command: str | None = None,
    ) -> Path:
        """Write a report that a non-specialist can read, whole or not at all; equal inputs of one day give equal bytes.

        Parameters
        ----------
        path
            Where to; the suffix says as what. `.html` is one page that needs no network, in which thresholds and prices can be
            tried out; `.md` and `.json` say the same without that.
        features
            A ranking to show, of `feature_stability`.
        comparison
            Models to show side by side, of `compare`.
        drifts
            Observed changes of the data to hold the stability against, of `drift`, asked the same question.
        model, data
            What was evaluated, and on what, in a few words.
        title
            Of the report.
        gate
            The least stability that is accepted. It applies to the result and to every result of `comparison`, and the lowest
            decides. A number is compared with the certified lower bound, `Gate(0.05, on="value")` with the value found. The
            outcome of `Gate.judge` is shown unchanged.
        date
            Of the report, as "2026-01-31". Where none is given it is that of the environment's `SOURCE_DATE_EPOCH`, else
            today's (UTC): with a date of your own, equal inputs give equal bytes on any day.
        model_file
            The file that the model was read from; its SHA-256 is then the model's fingerprint. Otherwise that is taken of the
            object in memory, where it can be.
        command
            The command line that made the report; where none is given, the report tells the call.

        Returns
        -------
        Path
            Where it is.
        """
        from tippingpoint.report import RENDERINGS

        target = Path(path)
        render = RENDERINGS.get(target.suffix.lower())
        if render is None:
            raise InputError(f"path={str(path)!r} must end in {', '.join(RENDERINGS)}, which says what to write.")
        if not target.parent.is_dir():
            raise InputError(f"path={str(path)!r} lies in a folder that is not there; make it first.")
        summary = self.report_summary(
            features=features,
            comparison=comparison,
            drifts=drifts,
            model=model,
            data=data,
            title=title,
            gate=gate,
            date=date,
            model_file=model_file,
            command=command,
        )
        write_file(target, render(summary))
        return target

    def report_summary(
        self,
        *,
        features: FeatureStability | None = None,
        comparison: Comparison | None = None,
        drifts: DriftResult | DriftSeries | None = None,
        model: str | None = None,
        data: str | None = None,
        title: str | None = None,
        gate: float | Gate | Judged | None = None,
        date: str | dt.date | None = None,
        model_file: str | os.PathLike[str] | None = None,
        command: str | None = None,
    ) -> dict[str, Any]:
        """Everything that a report says, as one plain dictionary; arguments as in `report`."""
        from tippingpoint.report.dates import read_date
        from tippingpoint.report.material import Request
        from tippingpoint.report.summary import summarise

        for name, value in (("model", model), ("data", data), ("title", title), ("command", command)):
            if not isinstance(value, (str, type(None))):
                raise InputError(f"{name}={value!r} must be a few words, as {name}='…'.")
        request = Request(model, data, title, gate, read_date(date), model_file, command, features, comparison, drifts)
        return summarise(self.summary, self._evidence, request)

    def log_mlflow(self, *, prefix: str = "stability", report: bool = True, **details: Any) -> str:
        """Log numbers and report to the MLflow run that is active, or to a new one (extra `mlflow`); the id of the run.

        Parameters
        ----------
        prefix
            Of every metric, tag and file, so that several results fit into one run.
        report
            Whether the report is logged too.
        details
            For the report: `features`, `comparison`, `drifts`, `model`, `data`, `title`, `gate` and others, as in `report`.
        """
        from tippingpoint.report.tracking import log

        if details and not report:
            name = next(iter(details))
            raise InputError(f"{name} is for the report; leave it out, or log the report too.")
        return log(self.summary, (lambda page: self.report(page, **details)) if report else None, prefix)
