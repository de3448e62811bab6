"""Bad input: one clear sentence that names the argument, the value and the remedy."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

import tippingpoint as tp
from refusals import refusal

INF, NAN = math.inf, math.nan

X = np.random.default_rng(0).normal(size=(30, 3))
Y = np.where(X[:, 0] + 0.3 * X[:, 1] ** 2 > 0.2, "yes", "no")
MODEL = ([1.0, 0.5, -0.2], 0.1)
FRAME = pd.DataFrame(X, columns=["age", "dose", "bmi"], index=[f"r{i}" for i in range(30)])
RESULT = tp.stability(MODEL, X, Y, 0.5)
COMPARISON = tp.compare({"one": MODEL, "other": ([1.0, 0.0, 0.0], 0.0)}, X, Y, 0.5)


def asked(model: Any = MODEL, x: Any = X, y: Any = Y, risk: Any = 0.5, **settings: Any) -> Callable[[], Any]:
    return lambda: tp.stability(model, x, y, risk, **settings)


def table(**columns: Any) -> pd.DataFrame:
    """Three samples, five lines; columns may be replaced."""
    plain = {"sample": ["a", "a", "b", "c", "c"], "loss": [0.0, 1.0, 0.5, 0.2, 0.9], "cost": [0.0, 1.0, 0.0, 0.0, 0.4]}
    return pd.DataFrame({**plain, **columns})


def tabled(given: Any, **roles: Any) -> Callable[[], Any]:
    return lambda: tp.profile_table(given, **roles)


def replaced(values: Any, place: Any, by: Any) -> Any:
    copy = values.copy()
    copy[place] = by
    return copy


def with_missing() -> pd.DataFrame:
    frame = FRAME.astype("Float64")
    frame.loc["r4", "dose"] = pd.NA
    return frame


def polars_null() -> Any:
    polars = pytest.importorskip("polars")
    return tp.profile(MODEL, polars.DataFrame({"age": X[:, 0], "dose": [None, *X[1:, 1]], "bmi": X[:, 2]}), Y)


Case = tuple[Callable[[], Any], tuple[str, ...]]
"""What is called, and what the sentence has to contain: argument, value, remedy."""

DATA: dict[str, Case] = {
    "NaN in an array": (asked(x=replaced(X, (3, 1), NAN)), ("X[3, 'x1']=nan", "impute or drop the row")),
    "infinity in an array": (asked(x=replaced(X, (3, 1), -INF)), ("X[3, 'x1']=-inf", "must be finite")),
    "NaN in a frame": (
        asked(x=FRAME.assign(dose=replaced(X[:, 1], 7, NAN))),
        ("X['r7', 'dose'] is missing", "drop the row"),
    ),
    "infinity in a frame": (asked(x=FRAME.assign(dose=replaced(X[:, 1], 7, INF))), ("X['r7', 'dose']=inf", "must be finite")),
    "NA in a nullable column": (asked(x=with_missing()), ("X['r4', 'dose'] is missing", "impute")),
    "null in polars": (polars_null, ("X[0, 'dose'] is missing", "impute")),
    "text in a frame": (asked(x=FRAME.assign(bmi="high")), ("X['bmi']", "String", "OneHotEncoder")),
    "dates in a frame": (asked(x=FRAME.assign(bmi=pd.Timestamp("2024-01-01"))), ("X['bmi']", "Datetime", "drop it")),
    "text in an array": (asked(x=X.astype(str)), ("X holds values that are not numbers", "convert text with astype(float)")),
    "complex numbers": (asked(x=X + 1j), ("X holds values that are not numbers", "+1j)'", "encode")),
    "masked values": (asked(x=np.ma.masked_greater(X, 1.0)), ("X holds masked values", "fill them")),
    "rows of different lengths": (asked(x=[[1.0, 2.0, 3.0], [1.0]]), ("X has rows of different lengths", "same number")),
    "one dimension": (asked(x=X[:, 0]), ("X has shape (30,)", "rows and columns")),
    "no data at all": (asked(x=None), ("X has shape ()", "rows and columns")),
    "no rows": (asked(x=X[:0], y=Y[:0]), ("X has shape (0, 3)", "at least one row")),
    "no rows of a frame": (asked(x=FRAME[:0], y=Y[:0]), ("X has shape (0, 3)", "at least one row")),
    "no columns": (asked(x=X[:, :0]), ("X has shape (30, 0)", "at least one row and column")),
    "a column name twice": (
        asked(x=FRAME.set_axis(["age", "age", "bmi"], axis=1)),
        ("X has more than one column called 'age'",),
    ),
    "a sparse matrix": (asked(x=csr_matrix(X)), ("X is a sparse matrix", "X.toarray()")),
    "too few labels": (asked(y=Y[:-1]), ("y has 29 values", "30 rows", "one value a row")),
    "labels as a table": (asked(y=Y[:, None]), ("y has shape (30, 1)", "as a vector")),
    "labels as a frame": (asked(y=pd.DataFrame({"y": Y})), ("y has shape (30, 1)", "as a vector")),
    "no labels": (asked(y=None), ("y has shape ()", "one value a row")),
    "NaN among number labels": (asked(y=replaced((Y == "yes") * 1.0, 2, NAN)), ("y[2]=nan", "drop the row")),
    "infinity among number labels": (asked(y=replaced((Y == "yes") * 1.0, 2, INF)), ("y[2]=inf", "drop the row")),
    "None among labels": (asked(y=replaced(Y.astype(object), 5, None)), ("y[5]=None", "drop the row or fill it")),
    "NaN as if it were a class": (
        asked(y=["yes" if label == "yes" else NAN for label in Y]),
        (f"y[{int(np.argmax(Y == 'no'))}]=nan", "every label must be known"),
    ),
    "NA among nullable labels": (asked(y=pd.Series([True, pd.NA] * 15, dtype="boolean")), ("y[1]=<NA>", "drop the row")),
    "one class only": (asked(y=["yes"] * 30), ("y holds one class only, 'yes'", "for example classes=[0, 1]")),
    "more classes than scores": (asked(y=["a", "b", "c"] * 10), ("y holds 3 distinct labels", "classes=")),
    "a label never seen": (
        asked(model=LogisticRegression().fit(X, Y == "yes"), y=Y),
        ("y holds the label 'no'", "never saw", "[False, True]"),
    ),
    "a label not among the classes": (
        asked(model=tp.LinearModel.of(*MODEL, classes=["no", "maybe"])),
        ("y holds the label 'yes'", "['no', 'maybe']"),
    ),
    "NaN among targets": (asked(y=replaced(X[:, 0], 1, NAN), loss="squared"), ("y[1]=nan", "drop the row or fill it")),
    "infinity among targets": (asked(y=replaced(X[:, 0], 1, INF), loss="squared"), ("y[1]=inf", "must be finite")),
    "words as targets": (asked(loss="squared"), ("y holds values that are not numbers", "encode")),
    "a negative weight": (asked(sample_weight=replaced(np.ones(30), 4, -2.0)), ("sample_weight[4]=-2", "must be ≥ 0")),
    "a weight of NaN": (asked(sample_weight=replaced(np.ones(30), 4, NAN)), ("sample_weight[4]=nan", "must be finite")),
    "an infinite weight": (asked(sample_weight=replaced(np.ones(30), 4, INF)), ("sample_weight[4]=inf", "must be finite")),
    "weights all zero": (asked(sample_weight=np.zeros(30)), ("sample_weight is zero throughout", "positive weight")),
    "too few weights": (asked(sample_weight=[1.0, 2.0]), ("sample_weight has 2 values", "30 rows")),
    "words as weights": (asked(sample_weight=["1"] * 30), ("sample_weight holds values that are not numbers, such as '1'",)),
    "weights that leave one class": (asked(sample_weight=(Y == "no") * 1.0), ("y holds one class only, 'no'",)),
}
MODELS: dict[str, Case] = {
    "too few coefficients": (asked(model=([1.0, 2.0], 0.0)), ("2 coefficients but X has 3 columns", "fitted on")),
    "a coefficient of NaN": (asked(model=([1.0, NAN, 2.0], 0.0)), ("coef", "NaN or infinity", "must be finite")),
    "words as coefficients": (asked(model=(["a", "b", "c"], 0.0)), ("coef and intercept must be numbers", "as arrays")),
    "ragged coefficients": (asked(model=([[1.0], [1.0, 2.0]], 0.0)), ("coef and intercept must be numbers",)),
    "intercepts that do not match": (
        asked(model=(np.eye(3), [1.0, 2.0])),
        ("intercept of shape (2,)", "one intercept for each"),
    ),
    "classes that do not match": (
        lambda: tp.LinearModel.of(np.eye(3), classes=["a", "b"]),
        ("classes has 2 labels", "3 score"),
    ),
    "classes that are none": (lambda: tp.LinearModel.of([1.0], classes=5), ("classes=5", "list the labels")),  # type: ignore[arg-type]
    "a class twice": (lambda: tp.LinearModel.of([1.0], classes=["a", "a"]), ("classes=['a', 'a']", "its own")),
    "no model": (asked(model=None), ("model=None", "pass one")),
    "something else": (asked(model=object()), ("model=object is not served", "(coef, intercept)", "profile_table")),
    "the name of a file": (asked(model=Path("model.pkl")), ("model='model.pkl' is a name", "tippingpoint.load_model")),
    "an unknown loss": (asked(loss="l2"), ("loss='l2' is not known", "zero_one", "squared")),
    "a loss with a number it does not take": (asked(loss="hinge:2"), ("loss='hinge:2'", "takes no number", "pinball")),
    "a quantile out of range": (asked(loss="pinball:2"), ("quantile=2", "between 0 and 1")),
    "a loss of several classes": (
        asked(model=(np.eye(3), np.zeros(3)), y=["a", "b", "c"] * 10, loss="hinge"),
        ("loss='hinge' of 3 classes", "'zero_one'"),
    ),
    "one model to compare": (lambda: tp.compare({"one": MODEL}, X, Y, 0.5), ("models", "at least two", "{'lr': lr")),
}
SPACES: dict[str, Case] = {
    "freezing an unknown feature": (
        asked(x=FRAME, space=tp.Space(frozen=["sex"])),
        ("frozen names 'sex'", "'age', 'dose', 'bmi'"),
    ),
    "moving an unknown feature": (asked(x=FRAME, space=tp.Space(movable=["sex"])), ("movable names 'sex'", "'age', 'dose'")),
    "pricing an unknown feature": (asked(space=tp.Space(price={"age": 1.0})), ("price names 'age'", "'x0', 'x1', 'x2'")),
    "bounding an unknown feature": (asked(space=tp.Space(upper={"age": 1.0})), ("upper names 'age'", "'x0', 'x1', 'x2'")),
    "a name instead of names": (asked(x=FRAME, space=tp.Space(frozen="age")), ("frozen='age'", "a list", "['age']")),
    "a price of zero": (asked(space=tp.Space(price=0.0)), ("price['x0']=0", "positive", "frozen")),
    "a negative price": (asked(space=tp.Space(price={"x1": -1.0})), ("price['x1']=-1", "positive", "frozen")),
    "an infinite price": (asked(space=tp.Space(price=INF)), ("price['x0']=inf", "frozen")),
    "a price of NaN": (asked(space=tp.Space(price={"x1": NAN})), ("price['x1']=nan", "must be a number")),
    "prices of NaN": (asked(space=tp.Space(price=[1.0, NAN, 1.0])), ("price contains NaN", "default")),
    "words as prices": (asked(space=tp.Space(price=["a", "b", "c"])), ("price=['a', 'b', 'c']", "must be a number")),  # type: ignore[list-item]
    "too few prices": (asked(space=tp.Space(price=[1.0, 2.0])), ("price has shape (2,)", "3 features", "one number for each")),
    "bounds the wrong way round": (asked(space=tp.Space(lower=1.0, upper=-1.0)), ("lower['x0']=1", "upper['x0']=-1", "swap")),
    "data outside the bounds": (asked(x=FRAME, space=tp.Space(lower={"bmi": 5.0})), ("X['r0', 'bmi']", "[5, inf]", "widen")),
    "a space that is none": (asked(space={"frozen": ["x0"]}), ("space={'frozen': ['x0']}", "tippingpoint.Space")),
    "an unknown scale": (asked(scale="minmax"), ("scale='minmax'", "'std'", "'raw'")),
}
QUESTIONS: dict[str, Case] = {
    "a risk of words": (asked(risk="0.4"), ("risk='0.4'", "must be a number")),
    "no risk": (asked(risk=None), ("risk=None", "must be a number")),
    "a risk of NaN": (asked(risk=NAN), ("risk=nan", "must be a number")),
    "a risk that is true": (asked(risk=True), ("risk=True", "must be a number")),
    "an infinite risk": (asked(risk=INF, loss="hinge"), ("risk=inf", "finite number")),
    "a negative risk": (asked(risk=-0.1), ("risk=-0.1", "outside [0, 1]", "zero_one")),
    "a negative risk of another loss": (asked(risk=-0.1, loss="logistic"), ("risk=-0.1", "outside [0, inf]", "logistic")),
    "a risk in percent": (asked(risk=40), ("risk=40", "outside [0, 1]", "write 0.4")),
    "theta1 of zero": (asked(theta1=0.0, theta2=1.0), ("theta1=0", "must be positive", "float('inf')")),
    "a negative theta1": (asked(theta1=-1.0, theta2=1.0), ("theta1=-1", "must be positive")),
    "theta2 of zero": (asked(theta1=1.0, theta2=0.0), ("theta2=0", "must be positive")),
    "a negative theta2": (asked(theta1=1.0, theta2=-INF), ("theta2=-inf", "must be positive")),
    "a theta of NaN": (asked(theta1=NAN, theta2=1.0), ("theta1=nan", "must be a number")),
    "a theta of words": (asked(theta1=1.0, theta2="inf"), ("theta2='inf'", "must be a number")),
    "theta1 missing": (asked(theta2=1.0), ("theta1 is missing", "float('inf')", "mix")),
    "theta2 missing": (asked(theta1=1.0), ("theta2 is missing", "both prices")),
    "both thetas infinite": (asked(theta1=INF, theta2=INF), ("theta1 and theta2 are both infinite", "one of them finite")),
    "mix below zero": (asked(mix=-0.1), ("mix=-0.1", "[0, 1]", "0 reweights only")),
    "mix above one": (asked(mix=1.1), ("mix=1.1", "[0, 1]", "1 moves only")),
    "mix of NaN": (asked(mix=NAN), ("mix=nan", "must be a number")),
    "mix beside thetas": (asked(mix=0.5, theta1=1.0, theta2=1.0), ("mix=0.5", "theta1=1.0", "give one or the other")),
    "mix out of range on a sweep": (lambda: tp.profile(MODEL, X, Y).tradeoff([0.5, 2.0], risk=0.5), ("mix=2.0", "[0, 1]")),
    "a budget beside thetas": (asked(theta1=1.0, theta2=1.0, budget=5.0), ("budget=5.0", "belongs to mix", "leave it out")),
    "one threshold for a curve": (lambda: tp.profile(MODEL, X, Y).curve(0.5), ("risks=0.5", "several numbers")),  # type: ignore[arg-type]
    "no mixes": (lambda: tp.profile(MODEL, X, Y).tradeoff([], risk=0.5), ("mixes=[]", "several numbers")),
    "a level of 95 for the bootstrap": (lambda: asked(risk=0.6)().bootstrap(5).interval(95), ("level=95", "0.95")),
    "a quantile out of range": (asked(loss="pinball:2"), ("loss='pinball:2'", "quantile=2.0", "between 0 and 1")),
    "a budget of zero": (asked(mix=0.5, budget=0.0), ("budget=0.0", "positive number", "5")),
    "an infinite budget": (asked(mix=0.5, budget=INF), ("budget=inf", "positive number")),
    "a budget that overflows": (asked(mix=0.5, budget=1e-310), ("budget=1e-310", "positive number")),
    "an unknown divergence": (asked(divergence="tv"), ("divergence='tv'", "'kl', 'chi2', 'cvar:SHARE'")),
    "a worst share without a share": (asked(divergence="cvar"), ("divergence='cvar'", "needs a share", "'cvar:0.2'")),
    "a worst share that is none": (asked(divergence="cvar:2"), ("share=2", "(0, 1]", "try share=0.2")),
    "a worst share of words": (asked(divergence="cvar:few"), ("divergence='cvar:few'", "not a number")),
    "a level in percent": (lambda: COMPARISON.differences(level=95), ("level=95", "0.95")),
    "a level of words": (lambda: RESULT.interval("high"), ("level='high'", "0.95")),  # type: ignore[arg-type]
    "an unknown reference": (lambda: COMPARISON.differences("third"), ("reference='third'", "['one', 'other']")),
    "one replicate": (lambda: RESULT.bootstrap(1), ("replicates=1", "at least 2")),
    "half a replicate": (lambda: RESULT.bootstrap(2.5), ("replicates=2.5", "at least 2")),  # type: ignore[arg-type]
    "text that is not JSON": (lambda: tp.StabilityResult.from_json("{"), ("not JSON", "to_json()")),
    "JSON of something else": (
        lambda: tp.StabilityResult.from_json("[1]"),
        ("'tippingpoint.stability/1'", "'list'", "to_json()"),
    ),
    "JSON of another version": (
        lambda: tp.StabilityResult.from_json('{"schema": "tippingpoint.stability/99"}'),
        ("'tippingpoint.stability/99'", "to_json()"),
    ),
    "JSON with a hole": (
        lambda: tp.StabilityResult.from_dict({k: v for k, v in RESULT.to_dict().items() if k != "upper"}),
        ("lacks 'upper'", "to_json()"),
    ),
}
TABLES: dict[str, Case] = {
    "not a table": (tabled({"sample": [1]}), ("table is a dict", "pandas or polars frame")),
    "no lines": (tabled(table()[:0]), ("the table is empty", "one line an alternative")),
    "a missing column": (tabled(table().drop(columns="cost")), ("no column 'cost'", "['sample', 'loss']")),
    "an unknown column": (tabled(table(), sample="id"), ("no column 'id' for the sample", "'sample'")),
    "an unknown weight": (tabled(table(), weight="w"), ("no column 'w' for the weight", "'cost'")),
    "a column name twice": (
        tabled(table().set_axis(["sample", "loss", "loss"], axis=1)),
        ("more than one column called 'loss'",),
    ),
    "a negative cost": (tabled(table(cost=[0.0, 1.0, 0.0, 0.0, -2.0])), ("table['cost'][4] is -2 for sample 'c'", "≥ 0")),
    "a cost of NaN": (tabled(table(cost=[0.0, NAN, 0.0, 0.0, 1.0])), ("table['cost'][1]=nan", "must be finite")),
    "an infinite cost": (tabled(table(cost=[0.0, INF, 0.0, 0.0, 1.0])), ("table['cost'][1]=inf", "must be finite")),
    "losses that are all missing": (tabled(table(loss=[NAN] * 5)), ("every loss is missing", "what a missing one counts as")),
    "an unknown rule": (tabled(table(), missing="skip"), ("missing='skip' must be 'bounds'", "'drop'")),
    "a range that is none": (tabled(table(), missing=(1, 0)), ("missing=(1, 0) must be", "as (0, 5)")),
    "a range too narrow": (
        tabled(table(loss=[0.0, NAN, 3.0, 0.0, 1.0]), missing=(0, 2)),
        ("missing=(0, 2) must be the least and the largest loss", "known ones go from 0 to 3"),
    ),
    "runs of no alternative": (tabled(table(run=[1, 2, 1, 1, 1]), repeat="run"), ("repeat='run'", "variant='wording'")),
    "an alternative twice": (
        tabled(table(variant=["x", "y", "x", "x", "x"], cost=[0.0, 1.0, 0.0, 0.0, 2.0])),
        ("the alternative 'x' of sample 'c' stands on two lines, table[3] and table[4]", "repeat='run' (--repeat run)"),
    ),
    "a run twice": (
        tabled(table(variant=["x", "y", "x", "x", "x"], cost=[0.0, 1.0, 0.0, 0.0, 0.0], repeat=[1] * 5)),
        ("one run of the alternative 'x' of sample 'c' stands on two lines, table[3] and table[4]",),
    ),
    "runs of different costs": (
        tabled(table(variant=["x", "y", "x", "x", "x"], cost=[0.0, 1.0, 0.0, 0.0, 2.0], repeat=[1, 1, 1, 1, 2])),
        ("table['cost'][4] is 2, and 0 in another run of the alternative 'x' of sample 'c'", "the same cost"),
    ),
    "a sample in two groups": (
        tabled(table(doc=["p", "q", "p", "q", "q"]), group="doc"),
        ("table['doc'][1]: sample 'a' is in another group", "one group a sample"),
    ),
    "one group": (tabled(table(doc=["p"] * 5), group="doc"), ("table['doc'] holds one group only", "leave group out")),
    "a group without a name": (tabled(table(doc=["p", "p", None, "q", "q"]), group="doc"), ("table['doc'][2] is missing",)),
    "an infinite loss": (tabled(table(loss=[0.0, INF, 0.0, 0.0, 1.0])), ("table['loss'][1]=inf", "must be finite")),
    "words as losses": (tabled(table(loss=["bad"] * 5)), ("table['loss'] holds values that are not numbers, such as 'bad'",)),
    "numbers written as words": (tabled(table(cost=["0", "1", "0", "0", "1"])), ("table['cost'] holds values", "such as '0'")),
    "a sample without a name": (tabled(table(sample=["a", "a", None, "c", "c"])), ("table['sample'][2] is missing",)),
    "a sample without its original": (
        tabled(table(cost=[0.0, 1.0, 0.5, 0.0, 1.0])),
        ("sample 'b' has no line of cost 0", "add"),
    ),
    "two originals that disagree": (tabled(table(cost=[0.0, 1.0, 0.0, 0.0, 0.0])), ("sample 'c' has several lines of cost 0",)),
    "weights that disagree": (
        tabled(table(w=[1, 2, 1, 1, 1]), weight="w"),
        ("sample 'a' has different weights", "one weight a sample"),
    ),
    "a negative weight": (tabled(table(w=[1, 1, -3, 1, 1]), weight="w"), ("table['w'][2] is -3 for sample 'b'", "≥ 0")),
    "weights all zero": (tabled(table(w=[0] * 5), weight="w"), ("table['w'] is zero throughout", "positive weight")),
    "a weight of NaN": (tabled(table(w=[1, 1, NAN, 1, 1]), weight="w"), ("table['w'][2]=nan", "must be finite")),
    "a risk of NaN": (lambda: tp.profile_table(table()).stability(NAN), ("risk=nan", "must be a number")),
}
CASES = {
    f"{group}: {name}": case
    for group, cases in (("data", DATA), ("model", MODELS), ("space", SPACES), ("question", QUESTIONS), ("table", TABLES))
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_sentence_with_argument_value_and_remedy(name: str) -> None:
    call, parts = CASES[name]
    error = refusal(call)
    for part in parts:
        assert part in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__, "no second traceback above it"


def test_input_errors_are_value_errors_and_ours() -> None:
    assert issubclass(tp.InputError, ValueError)
    assert issubclass(tp.InputError, tp.TippingPointError)
    assert issubclass(tp.UnsupportedError, tp.InputError)
    assert issubclass(tp.DetachedError, tp.TippingPointError)


def test_rows_of_weight_zero_are_not_asked_for_a_label_that_the_model_knows() -> None:
    y = replaced(Y.astype(object), 3, "unknown")
    weights = replaced(np.ones(30), 3, 0.0)
    assert tp.profile(MODEL, X, y, sample_weight=weights).risk > 0.0
    with pytest.raises(tp.InputError, match="3 distinct labels"):
        tp.profile(MODEL, X, y)
