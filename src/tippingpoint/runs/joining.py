"""Outcomes of several logs, joined into one table of alternatives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from tippingpoint.costs.base import Cost, OwnCost, Pair
from tippingpoint.costs.prices import Prices
from tippingpoint.costs.words import FormatChanges, WordEdits
from tippingpoint.errors import InputError, listed
from tippingpoint.runs.outcomes import COLUMNS, ORIGINAL, Log, Outcome, as_number, check_names, encodable, short
from tippingpoint.visible import visible

COSTS: dict[str, type[WordEdits | FormatChanges]] = {"words": WordEdits, "formats": FormatChanges}
"""Costs by name."""

UNCHANGED = "of a variant that costs nothing, though it is not the original"
LACKS_ORIGINAL = "of a sample whose original is not in the logs"


def as_cost(given: Any) -> Cost:
    """A cost: one of `tp.costs`, its name, prices by name, or a function of the two texts."""
    if isinstance(given, Cost):
        return given
    if isinstance(given, Mapping):
        return Prices(given)
    if isinstance(given, str) and given in COSTS:
        return COSTS[given]()
    if callable(given) and not isinstance(given, type):
        return OwnCost(given)
    raise InputError(
        f"cost={given!r} is no cost; use one of {', '.join(map(repr, COSTS))}, one of tp.costs, prices by name, as"
        " {'typos': 1.0}, or a function of the two texts."
    )


def chosen_original(variants: Sequence[str], given: str | None) -> str:
    """The variant that is the sample as it is: as the user says, by its name, or the one whose name begins all others."""
    found = list(dict.fromkeys(variants))
    if given is not None:
        if given not in found:
            raise InputError(f"original={given!r} is none of the variants, which are {listed(found)}.")
        return given
    if ORIGINAL in found:
        return ORIGINAL
    roots = [name for name in found if name and all(other.startswith(name) for other in found)]
    if len(roots) == 1:
        return roots[0]
    raise InputError(f"which of the variants {listed(found)} is the original? Say original={found[0]!r}, or which it is.")


def name_subtasks(outcomes: Sequence[Outcome], original: str) -> None:
    """Tell samples of several tasks of one variant apart: their ids begin anew in every task.

    A subtask is called by what its task's name has of its own among those of the original. A task of another variant belongs
    to the subtask whose words it holds, as `mmlu_polite_anatomy` and `mmlu_anatomy_polite` do to `anatomy`.
    """
    tasks: dict[str, dict[str, None]] = {}
    for each in outcomes:
        if each.task is not None:
            tasks.setdefault(each.variant, {})[each.task] = None
    if all(len(found) < 2 for found in tasks.values()):
        return
    subtasks = _distinct_parts(list(tasks.get(original, {})))
    for each in outcomes:
        if each.task is not None:
            each.sample = f"{_subtask(each.task, subtasks)}/{each.sample}"


def _distinct_parts(tasks: list[str]) -> dict[tuple[str, ...], str]:
    """The words of each task without those with which all begin and end, and the name that they make."""
    words = [task.split("_") for task in tasks]
    shared = zip(*words, strict=False), zip(*(each[::-1] for each in words), strict=False)
    begin, end = (sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns)) for columns in shared)
    parts = [tuple(each[begin : len(each) - end]) for each in words]
    whole = len(tasks) < 2 or not all(parts) or len(set(parts)) < len(parts)
    return {
        tuple(task.split("_")) if whole else part: "_".join(part) if not whole else task
        for task, part in zip(tasks, parts, strict=True)
    }


def _subtask(task: str, subtasks: Mapping[tuple[str, ...], str]) -> str:
    """The subtask whose words stand in the name of a task; the longest of several. The name itself if there is none."""
    words = task.split("_")
    held = [part for part in subtasks if any(tuple(words[k : k + len(part)]) == part for k in range(len(words)))]
    return subtasks[max(held, key=len)] if held else task


def match_samples(outcomes: Sequence[Outcome], original: str, *, by_id: bool) -> list[str]:
    """Have the same sample mean the same document in all logs; what must be reported of that.

    Samples of one id must be about one document. Logs that hold the documents of the original in another order are matched by
    document; logs of other documents are refused. With `by_id` ids are trusted.
    """
    first: dict[Any, Outcome] = {}
    logs: dict[tuple[str, str, str], list[Outcome]] = {}
    for each in outcomes:
        logs.setdefault((each.place.path, each.variant, each.model), []).append(each)
        if each.variant == original:
            first.setdefault(each.sample, each)
    notes, unchecked = [], False
    for log in logs.values():
        pairs = [(first[each.sample], each) for each in log if each.sample in first]
        same = [_same_document(known, each) for known, each in pairs]
        if not by_id and (False in same or not pairs) and _match_by_document(log, first):
            notes.append(
                f"{log[0].place.path} holds its documents in another order than the log of {original!r}; they are matched by"
                " document, not by id"
            )
        elif not pairs:
            raise InputError(
                f"{log[0].place}: no sample of this log, such as {short(log[0].sample)}, is one of {original!r}; give logs of"
                " one task."
            )
        elif not by_id and False in same:
            known, each = pairs[same.index(False)]
            also = ", another target" if known.target != each.target else ""
            raise InputError(
                f"{each.place}: sample {short(each.sample)} of {each.variant!r} is another than that of {original!r} in"
                f" {visible(known.place.path)} (another document{also}); give logs of one task, or say match='ids' (--match"
                " ids) if the documents themselves were varied."
            )
        elif not by_id and log[0].task is not None and log[0].variant != original and None in same:
            unchecked = unchecked or len({str(each.target) for each in log}) < 2
    if unchecked:
        notes.append("the logs hold no documents, and one target for all samples: samples are matched by their ids unchecked")
    return notes


def _same_document(known: Outcome, other: Outcome) -> bool | None:
    """Whether two outcomes are about the same document; None if neither log says it and their targets are the same."""
    for mine, theirs in ((known.document, other.document), (known.content, other.content)):
        if mine is not None and theirs is not None:
            return mine == theirs
    return False if None not in (known.target, other.target) and known.target != other.target else None


def _match_by_document(log: Sequence[Outcome], first: Mapping[Any, Outcome]) -> bool:
    """Give every outcome the id that its document has in the log of the original; False if they share no document."""
    by_hash = all(each.document is not None for each in (*log, *first.values()))
    ids: dict[Any, list[Any]] = {}
    for sample, each in first.items():
        ids.setdefault(each.document if by_hash else each.content, []).append(sample)
    ids.pop(None, None)
    documents = [each.document if by_hash else each.content for each in log]
    if not any(document in ids for document in documents):
        return False
    met: Counter[Any] = Counter()
    for each, document in zip(log, documents, strict=True):
        held = ids.get(document, [])
        # The second of two equal documents is the second there too; one that the original lacks is left out, and counted.
        each.sample = held[met[document]] if met[document] < len(held) else f"{each.place}: {each.sample}"
        met[document] += 1
    return True


def chosen_metric(outcomes: Sequence[Outcome], given: str | None) -> str:
    """The metric that losses come from: as the user says, else the first of which all values lie between 0 and 1."""
    names = list(dict.fromkeys(name for each in outcomes for name in each.scores))
    if given is not None:
        if given not in names:
            raise InputError(f"metric={given!r} is not in the logs; their metrics are {listed(names)}.")
        return given
    for name in names:
        values = [as_number(each.scores[name]) for each in outcomes if each.scores.get(name) is not None]
        if values and all(value is not None and 0.0 <= value <= 1.0 for value in values):
            return name
    raise InputError(f"none of the metrics {listed(names)} lies between 0 and 1; name one, or give a table with losses.")


def read_losses(logs: Sequence[Log], metric: str | None, *, higher_is_better: bool | None) -> tuple[str, list[str]]:
    """Losses of logs that have scores; what they are, and what must be reported of them."""
    outcomes = [each for log in logs for each in log.outcomes]
    if not any(each.scores for each in outcomes):
        if higher_is_better is not None:
            raise InputError(f"higher_is_better={higher_is_better} is of a metric, and these tables hold losses; leave it out.")
        return "as given", []
    name = chosen_metric(outcomes, metric)
    higher, notes = _direction(logs, name, given=higher_is_better)
    judged = {each.place.path for each in outcomes if name in each.scores}
    for each in outcomes:
        if each.scores and each.place.path not in judged:
            raise InputError(
                f"{visible(each.place.path)} has no metric {name!r}; its metrics are {listed(each.scores)}: name one that all"
                " logs have."
            )
        value = each.scores.get(name)
        if each.missing is not None:
            continue
        if value is None or (isinstance(value, float) and math.isnan(value)):
            each.missing = "no answer that could be judged"
            continue
        number = as_number(value)
        if number is None or not 0.0 <= number <= 1.0:
            raise InputError(
                f"{each.place}: {name}={short(value)} of sample {short(each.sample)} does not lie between 0 and 1, so it makes"
                " no loss; name another metric."
            )
        each.loss = 1.0 - number if higher else number
    return f"1 - {name}" if higher else f"{name}, of which lower is better", notes


def _direction(logs: Sequence[Log], name: str, *, given: bool | None) -> tuple[bool, list[str]]:
    """Whether a higher value of a metric is better, by the user, else by the logs, else by assumption, which is noted."""
    scored = [log for log in logs if log.higher_is_better is not None and any(name in each.scores for each in log.outcomes)]
    told = {(log.higher_is_better or {})[name] for log in scored if name in (log.higher_is_better or {})}
    if given is not None:
        against = [f"higher_is_better={given} is against what the logs say of {name!r}"] if told - {given} else []
        return given, against
    if len(told) > 1:
        raise InputError(
            f"metric={name!r} is better when it is higher in some logs, and when it is lower in others; give logs of one task,"
            " or higher_is_better= (--lower-is-better)."
        )
    higher = told.pop() if told else True
    silent = sum(name not in (log.higher_is_better or {}) for log in scored)
    if not silent:
        return higher, []
    which = "the logs" if silent == len(scored) else f"{silent:,} of the {len(scored):,} logs"
    assumed = f"{which} do not say whether a higher {name!r} is better, so {'higher' if higher else 'lower'} is assumed to be"
    fix = f"higher_is_better={not higher} ({'--lower' if higher else '--higher'}-is-better)"
    return higher, [f"{assumed} better; set {fix} if not"]


def number_repeats(outcomes: Sequence[Outcome], *, repeats: bool) -> None:
    """Refuse two runs of one sample, variant and model; with `repeats` they are numbered in their order."""
    seen: dict[tuple[Any, str, str, int], Outcome] = {}
    runs: Counter[tuple[Any, str, str]] = Counter()
    for each in outcomes:
        if repeats:
            key = each.sample, each.variant, each.model
            each.repeat = runs[key]
            runs[key] += 1
            continue
        known = seen.setdefault((each.sample, each.variant, each.model, each.repeat), each)
        if known is not each:
            raise InputError(
                f"{known.place} and {each.place} both hold sample {short(each.sample)} of variant {each.variant!r} and model"
                f" {each.model!r}; say repeats=True (--repeats) if it was run several times, or give one of them."
            )


def price(outcomes: list[Outcome], original: str, given: Any, dropped: Counter[str]) -> tuple[list[Outcome], str]:
    """The outcomes with their costs, but for those that cost nothing and are no originals; and what costs are."""
    texts = {(each.sample, each.model): each.text for each in outcomes if each.variant == original}
    changed = [each for each in outcomes if each.variant != original]
    if given is None and all(each.cost is not None for each in outcomes):
        label = "as given"
    else:
        cost = as_cost("words" if given is None else given)
        if given is None and cost.needs_content and any(each.text is None for each in outcomes):
            where = next(each for each in outcomes if each.text is None)
            raise InputError(
                f"{where.place}: the text of sample {where.sample!r} is not in the log, so words cannot be compared; give"
                f" prices by variant, as cost={{{(changed or outcomes)[0].variant!r}: 0.2}}."
            )
        parts = [tuple(str(each.variation).split(" + ")) if each.variation else () for each in changed]
        pairs = [
            Pair(texts[each.sample, each.model], each.text, each.variant, part)
            for each, part in zip(changed, parts, strict=True)
        ]
        for each, found in zip(changed, cost(pairs).tolist(), strict=True):
            each.cost = found
        label = cost.label
    free = {id(each) for each in changed if each.cost == 0.0}
    if free and len(free) == len(changed):
        raise InputError(f"every variant costs 0, as if it were the original ({label}); give costs above 0.")
    dropped[UNCHANGED] += len(free)
    for each in outcomes:
        if each.variant == original:
            each.cost = 0.0
    return [each for each in outcomes if id(each) not in free], label


def with_originals(outcomes: list[Outcome], original: str, dropped: Counter[str]) -> list[Outcome]:
    """The outcomes of samples whose original is there, for the same model."""
    known = {(each.sample, each.model) for each in outcomes if each.variant == original}
    kept = [each for each in outcomes if (each.sample, each.model) in known]
    dropped[LACKS_ORIGINAL] += len(outcomes) - len(kept)
    if not kept:
        raise InputError(f"no sample has its original, {original!r}; give the log of the prompts as they are too.")
    return kept


def gaps(outcomes: Sequence[Outcome]) -> list[str]:
    """How many samples lack a variant that others of their model have: they cannot move there, and look more stable."""
    samples: dict[tuple[str, str], set[Any]] = {}
    every: dict[str, set[Any]] = {}
    for each in outcomes:
        samples.setdefault((each.model, each.variant), set()).add(each.sample)
        every.setdefault(each.model, set()).add(each.sample)
    lacking = {key: len(every[key[0]]) - len(held) for key, held in samples.items()}
    total = sum(lacking.values())
    if not total:
        return []
    (model, variant), most = max(lacking.items(), key=lambda each: each[1])
    among = f"{most:,} of the {len(every[model]):,} samples of {model!r} have none of {variant!r}"
    return [f"{total:,} of the runs that others of their model have are not there ({among}); who lacks one looks more stable"]


def table_of(outcomes: Sequence[Outcome], original: str) -> Any:
    """The outcomes as a frame, in the order of the samples, then of models, variants and repeats."""
    import pandas as pd

    texts = {(each.sample, each.model): each.text for each in outcomes if each.variant == original}
    columns: dict[str, list[Any]] = {
        "sample": [each.sample for each in outcomes],
        "variant": [each.variant for each in outcomes],
        "model": [each.model for each in outcomes],
        "repeat": [each.repeat for each in outcomes],
        "loss": [np.nan if each.loss is None or each.missing is not None else each.loss for each in outcomes],
        "cost": [each.cost for each in outcomes],
        "variation": [each.variation for each in outcomes],
        "text": [each.text for each in outcomes],
        "original": [texts[each.sample, each.model] for each in outcomes],
        "answer": [each.answer for each in outcomes],
        "missing": [each.missing for each in outcomes],
    }
    if not any(columns["repeat"]):
        del columns["repeat"]
    frame = pd.DataFrame({name: [encodable(each) for each in columns[name]] for name in COLUMNS if name in columns})
    frame["loss"], frame["cost"] = frame["loss"].astype(float), frame["cost"].astype(float)
    known = [name for name in frame.columns if name in ("sample", "variant", "model", "loss", "cost", "repeat")]
    frame = frame[[name for name in frame.columns if name in known or frame[name].notna().any()]]
    extra = list(dict.fromkeys(name for each in outcomes for name in each.extra if name not in frame.columns))
    for name in extra:
        frame = frame.assign(**{encodable(name): pd.Series([encodable(each.extra.get(name)) for each in outcomes])})
    order = {key: k for k, key in enumerate(dict.fromkeys(each.sample for each in outcomes))}
    models = {key: k for k, key in enumerate(dict.fromkeys(each.model for each in outcomes))}
    variants = {key: k for k, key in enumerate(dict.fromkeys([original, *(each.variant for each in outcomes)]))}
    rank = sorted(
        range(len(outcomes)),
        key=lambda i: (
            order[outcomes[i].sample],
            models[outcomes[i].model],
            variants[outcomes[i].variant],
            outcomes[i].repeat,
        ),
    )
    return frame.iloc[rank].reset_index(drop=True)


def join(
    logs: Sequence[Log],
    *,
    original: str | None,
    metric: str | None,
    cost: Any,
    repeats: bool,
    by_id: bool,
    higher_is_better: bool | None,
) -> tuple[Any, str, Counter[str], str, str, list[str]]:
    """The table, what the original is called, what was dropped, what loss and cost are, and what else must be said."""
    outcomes = [each for log in logs for each in log.outcomes]
    check_names(outcomes)
    dropped: Counter[str] = Counter()
    for log in logs:
        dropped.update(log.dropped)
    base = _original(outcomes, original)
    for each in outcomes:
        each.variant = each.variant or "changed"
    name_subtasks(outcomes, base)
    matched = match_samples(outcomes, base, by_id=by_id)
    number_repeats(outcomes, repeats=repeats)
    label, directed = read_losses(logs, metric, higher_is_better=higher_is_better)
    outcomes = with_originals(outcomes, base, dropped)
    outcomes, priced = price(outcomes, base, cost, dropped)
    notes = [note for log in logs for note in log.notes] + directed + matched + gaps(outcomes)
    return table_of(outcomes, base), base, +dropped, label, priced, notes


def _original(outcomes: list[Outcome], given: str | None) -> str:
    """The original by the costs where these are given, else by names."""
    if any(each.cost is None for each in outcomes):
        return chosen_original([each.variant for each in outcomes], given)
    free = [each for each in outcomes if each.cost == 0.0]
    if not free:
        raise InputError(
            f"{outcomes[0].place.path} has no line of cost 0, so no original; add every sample as it is, with cost 0."
        )
    named = list(dict.fromkeys(each.variant for each in free))
    if given is not None:
        return _named_original(outcomes, given, named)
    seen: dict[tuple[Any, str, int], Outcome] = {}
    for each in free:
        known = seen.setdefault((each.sample, each.model, each.repeat), each)
        if known is not each and known.variant != each.variant:
            raise InputError(
                f"{known.place} and {each.place}: sample {each.sample!r} of {each.model!r} has two lines of cost 0, so two"
                f" originals ({known.variant!r}, {each.variant!r}); keep one, give the other its cost, or say"
                f" original={known.variant!r} (--original) to go without the other, which is then counted."
            )
    name = named[0] if len(named) == 1 else ORIGINAL
    for each in free:
        each.variant = name
    return name


def _named_original(outcomes: Sequence[Outcome], given: str, free: Sequence[str]) -> str:
    """The original as the user names it; it costs nothing."""
    if given not in free:
        raise InputError(f"original={given!r} has no line of cost 0; those of cost 0 are {listed(free)}.")
    for each in outcomes:
        if each.variant == given and each.cost != 0.0:
            raise InputError(
                f"{each.place}: the original, {given!r}, costs {each.cost:g}; the original of every sample costs 0."
            )
    return given
