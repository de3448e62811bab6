"""The front door: the profile of a model on data, and its stability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from tippingpoint.api.cases import prepared
from tippingpoint.api.partitioned import in_partitions, profile_of
from tippingpoint.api.profiles import Profile
from tippingpoint.api.settings import Settings, check_used
from tippingpoint.core.arrays import FloatArray
from tippingpoint.losses import Loss
from tippingpoint.results.stability import StabilityResult
from tippingpoint.results.worst import WorstRisk, WorstRiskCurve
from tippingpoint.space import Space
from tippingpoint.space.scaling import Scale


def profile(
    model: Any,
    X: Any,  # noqa: N803  # the name every data scientist expects
    y: Any,
    *,
    loss: str | Loss | Callable[..., Any] | None = None,
    sample_weight: Any = None,
    space: Space | None = None,
    scale: Scale | None = None,
    client: Any = None,
    memory: int | str | None = None,
    **options: Any,
) -> Profile:
    """The best responses of a model on evaluation data, once and for every setting.

    Parameters
    ----------
    model
        A fitted linear model of scikit-learn, or a pipeline that ends in one (scalers, imputers, encoders of categories, column
        transformers), `(coef, intercept)`, a `LinearModel`: exact. A PyTorch module that returns logits or a prediction (it is
        used as it is, and left as it was), also behind preprocessing, as the last step of a pipeline. A tree ensemble of
        XGBoost, LightGBM, CatBoost or scikit-learn, also behind preprocessing: proved from both sides. Anything else with
        `predict`, `predict_proba` or `decision_function`, or a function of the data, is a black box, and searched by asking.
    X
        Evaluation data, one row a sample: NumPy, pandas, polars, with columns of numbers, booleans, text or categories; for a
        module also a float tensor of any shape, or a mapping of what its `forward` takes by name, as
        `{"inputs_embeds": ..., "attention_mask": ...}`: arrays or tensors, of which those of floats may move, while others, and
        masks, ride along. Positions that a mask calls padding never move; a space names inputs in place of columns.
        Values may be missing where the model can do with that; they stay so. Data beyond memory come in partitions: a Dask
        DataFrame or Array, a Parquet file, directory or pattern, a polars LazyFrame, a DuckDB relation, an Arrow dataset or
        RecordBatchReader, a list of frames, an iterator of them, or a function that returns a fresh iterator for every pass.
        A NumPy array of 32 MiB or more is not copied: whoever writes into it later is told so when it is read again.
    y
        Labels of any type, or targets. A pandas series is matched by its index to X where both have labels (a note says so),
        and refused if they differ; so are weights. Also the name of a column of any frame, as are weights. Data in partitions
        need names of columns, or for Dask collections of the same partitions. One class is enough if the model, or
        `classes=`, names all: the error rate of the positives is the false-negative rate.
    loss
        What to judge by: zero_one (error), hinge, squared_hinge, logistic (log_loss, cross_entropy) for classifiers; squared
        (mse), absolute (mae), pinball, epsilon_insensitive, huber for regressors; or a `Loss`. The default is zero_one, or
        squared. Also a function `loss(output, y)` that returns one number a row: of tensors for a module, of arrays for any
        other model. Results call it by its name.
    sample_weight
        Weight of each row; equal where none is given.
    space
        What features are, which may move, within which bounds, at what price; where none is given all may, numbers freely.
    scale
        "std" measures each feature in its standard deviations, "mad" in median absolute deviations, "iqr" in interquartile
        ranges, "raw" as it is given; or a unit for each by name, as `{"age": 10}`. Of inputs by name each has one unit, the
        spread of all its values but for padding.
    client
        Of a Dask cluster, on whose workers partitions are kept; the current one where there is one. Data in memory have none.
    memory
        Memory for what is kept of partitions, such as "2 GB": in this process half of what is free by default, on a cluster of
        all workers together, by default everything. What does not fit is read again at every pass; the numbers are the same.
    options
        `threads=` (all cores by default, as far as `OMP_NUM_THREADS` allows; -1 is all, -2 all but one; the numbers are the
        same to the last bit).
        For tree ensembles: `gap=0.001` (between the bounds, relative to the upper one, at which a proof ends; 0 proves all that
        it can), `time_limit=60` (seconds for a question; what is open then is in the bounds), `progress=`, `classes=`.
        For black boxes: `calls=` (rows that the model may be asked about, in all, some hundreds a sample by default; with the
        same seed more of them find nothing worse, and all features together nothing worse than one of them or a group of the
        space, as long as they have `2d` times its calls if they are `d`, as `feature_stability` shares them; than any other
        set of them, that is usual and not certain), `seed=0`,
        `batch=` (rows at once), `progress=`, `output=` ("label", "probability", "score" or "prediction": what the model
        returns; it is obeyed or refused, and where it is left out a note says how numbers were read), `classes=`, `repeats=`
        (for a model whose answers are noisy, which is refused otherwise: every row is asked about so often, each counts as a
        call, and the mean is taken). A model that fails in the middle of a search ends it: what it found so far is used, and
        a note says so.
        For modules: how to search. `method` is "path" (the default: a search whose best find is a valid upper bound, bounded
        from below where the layers allow it), "exact" (one hidden layer of ReLUs with one output: proved to `tolerance=0.01`
        a sample within `time_limit=60` seconds a question, whatever is open then is in the bounds) or "paper" (the published
        gradient ascent, with `epochs=`, `inner_steps=`, `learning_rate=`, `price_rate=`). Further `seed=0`, `restarts=`
        (random starts), `certify=` ("quick", "tight" or "none": effort for the lower bound), `device=`, `batch=` (rows at
        once), `progress=` (a bar; by default on a terminal), `classes=` (labels in the order of the outputs). Interrupted
        from the keyboard, every search ends; what it found so far is used, and its results are marked `interrupted`.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> profile = tp.profile(([1.0], -1.5), X, ["no", "no", "yes", "yes"])
    >>> profile.stability(risk=0.5, theta1=1.0, theta2=float("inf")).value
    0.125
    """
    given = Settings.read(options, "profile").options
    partitions = in_partitions(X, y, sample_weight, client, memory)
    if partitions is not None:
        made, family = profile_of(model, partitions, given, loss=loss, space=space, scale=scale, client=client, memory=memory)
        check_used(given, [family])
        return made
    case = prepared(model, X, y, given, loss=loss, sample_weight=sample_weight, space=space, scale=scale)
    check_used(given, [case.family])
    return case.profile()


def stability(
    model: Any,
    X: Any,  # noqa: N803  # the name every data scientist expects
    y: Any,
    risk: float,
    *,
    loss: str | Loss | Callable[..., Any] | None = None,
    sample_weight: Any = None,
    space: Space | None = None,
    scale: Scale | None = None,
    client: Any = None,
    memory: int | str | None = None,
    **settings: Any,
) -> StabilityResult:
    """How much the data must change before the model's risk reaches a threshold: `profile`, then `Profile.stability`.

    Parameters
    ----------
    model, X, y, loss, sample_weight, space, scale, client, memory
        As in `profile`.
    risk
        The threshold.
    settings
        Prices and divergence, as in `Profile.stability`; and options of the model's family, as in `profile`.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> result = tp.stability(([1.0], -1.5), X, y, risk=0.5, theta1=1.0, theta2=0.25)
    >>> result.value, result.standing.exact
    (0.125, True)
    """
    given = Settings.read(settings)
    data = {"sample_weight": sample_weight, "space": space, "scale": scale, "client": client, "memory": memory}
    return profile(model, X, y, loss=loss, **data, **given.options).stability(risk, **given.question)


@overload
def worst_risk(
    model: Any,
    X: Any,  # noqa: N803  # as below
    y: Any,
    cost: float,
    *,
    loss: str | Loss | Callable[..., Any] | None = ...,
    sample_weight: Any = ...,
    space: Space | None = ...,
    scale: Scale | None = ...,
    client: Any = ...,
    memory: int | str | None = ...,
    **settings: Any,
) -> WorstRisk: ...


@overload
def worst_risk(
    model: Any,
    X: Any,  # noqa: N803  # as below
    y: Any,
    cost: Sequence[float] | FloatArray,
    *,
    loss: str | Loss | Callable[..., Any] | None = ...,
    sample_weight: Any = ...,
    space: Space | None = ...,
    scale: Scale | None = ...,
    client: Any = ...,
    memory: int | str | None = ...,
    **settings: Any,
) -> WorstRiskCurve: ...


def worst_risk(
    model: Any,
    X: Any,  # noqa: N803  # the name every data scientist expects
    y: Any,
    cost: float | Sequence[float] | FloatArray,
    *,
    loss: str | Loss | Callable[..., Any] | None = None,
    sample_weight: Any = None,
    space: Space | None = None,
    scale: Scale | None = None,
    client: Any = None,
    memory: int | str | None = None,
    **settings: Any,
) -> WorstRisk | WorstRiskCurve:
    """The largest risk that a change of the data of a cost can reach: `profile`, then `Profile.worst_risk`.

    Parameters
    ----------
    model, X, y, loss, sample_weight, space, scale, client, memory
        As in `profile`.
    cost
        What the perturbation may cost; several make a curve.
    settings
        Prices and divergence, as in `Profile.stability`; and options of the model's family, as in `profile`.

    Examples
    --------
    >>> import tippingpoint as tp
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> worst = tp.worst_risk(([1.0], -1.5), X, y, cost=0.125, theta1=1.0, theta2=0.25)
    >>> round(worst.value, 12), worst.standing.exact
    (0.5, True)
    """
    given = Settings.read(settings, "worst_risk")
    data = {"sample_weight": sample_weight, "space": space, "scale": scale, "client": client, "memory": memory}
    return profile(model, X, y, loss=loss, **data, **given.options).worst_risk(cost, **given.question)
