"""What a result that can be reported has, and the report itself."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tippingpoint.errors import InputError
from tippingpoint.evidence import Evidence
from tippingpoint.writing import write_file

if TYPE_CHECKING:
    from tippingpoint.comparisons import Comparison
    from tippingpoint.rankings import FeatureStability


class Reported(ABC):
    """A result that can be written as a report: a page that works on its own, Markdown, or JSON."""

    @property
    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Every number and word of the result."""

    @property
    @abstractmethod
    def _evidence(self) -> Evidence:
        """What a fresh result can still be asked; an error for one that was read from JSON."""

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        features: FeatureStability | None = None,
        comparison: Comparison | None = None,
        model: str | None = None,
        data: str | None = None,
        title: str | None = None,
    ) -> Path:
        """Write a report that a non-specialist can read, whole or not at all; equal inputs give equal bytes.

        Parameters
        ----------
        path
            Where to; the suffix says as what. `.html` is one page that needs no network, in which thresholds and prices can be
            tried out; `.md` and `.json` say the same without that.
        features
            A ranking to show, of `feature_stability`.
        comparison
            Models to show side by side, of `compare`.
        model, data
            What was evaluated, and on what, in a few words.
        title
            Of the report.

        Returns
        -------
        Path
            Where it is.
        """
        from tippingpoint.show.report import RENDERINGS

        target = Path(path)
        render = RENDERINGS.get(target.suffix.lower())
        if render is None:
            raise InputError(f"path={str(path)!r} must end in {', '.join(RENDERINGS)}, which says what to write.")
        if not target.parent.is_dir():
            raise InputError(f"path={str(path)!r} lies in a folder that is not there; make it first.")
        told = self.report_summary(features=features, comparison=comparison, model=model, data=data, title=title)
        write_file(target, render(told))
        return target

    def report_summary(
        self,
        *,
        features: FeatureStability | None = None,
        comparison: Comparison | None = None,
        model: str | None = None,
        data: str | None = None,
        title: str | None = None,
    ) -> dict[str, Any]:
        """Everything that a report says, as one plain dictionary; arguments as in `report`."""
        from tippingpoint.reporting.summary import summarise

        for name, value in (("model", model), ("data", data), ("title", title)):
            if not isinstance(value, (str, type(None))):
                raise InputError(f"{name}={value!r} must be a few words, as {name}='…'.")
        return summarise(self.summary, self._evidence, features, comparison, model=model, data=data, title=title)

    def log_mlflow(self, *, prefix: str = "stability", report: bool = True, **told: Any) -> str:
        """Log numbers and report to the MLflow run that is active, or to a new one (extra `mlflow`); the id of the run.

        Parameters
        ----------
        prefix
            Of every metric, tag and file, so that several results fit into one run.
        report
            Whether the report is logged too.
        told
            For the report: `features`, `comparison`, `model`, `data`, `title`, as in `report`.
        """
        from tippingpoint.reporting.tracking import log

        if told and not report:
            name = next(iter(told))
            raise InputError(f"{name} is for the report; leave it out, or log the report too.")
        return log(self.summary, (lambda page: self.report(page, **told)) if report else None, prefix)
