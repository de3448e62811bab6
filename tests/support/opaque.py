"""Models that can only be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Opaque:
    """A fitted classifier whose coefficients nobody sees; it counts the rows that it is asked about."""

    def __init__(self, model: Any, *methods: str) -> None:
        self.classes_ = model.classes_
        self.rows = 0
        for method in methods or ("predict", "predict_proba", "decision_function"):
            setattr(self, method, self._counted(getattr(model, method)))

    def _counted(self, method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(rows: Any) -> Any:
            self.rows += len(rows)
            return method(rows)

        return call
