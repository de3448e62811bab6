"""Bad spaces: one clear sentence that names the argument, the value and the remedy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import tippingpoint as tp
from refusals import refusal
from tippingpoint.data.frames import read_features
from tippingpoint.space import Space

INF, NAN = math.inf, math.nan


PEOPLE = pd.DataFrame(
    {
        "age": [30.0, 41.0, 52.0, 63.0],
        "kids": [0, 1, 2, 1],
        "job": ["cook", "clerk", "cook", "nurse"],
        "r0": [1, 0, 0, 1],
        "r1": [0, 1, 1, 0],
    },
    index=["ann", "bob", "cid", "dee"],
)
CLASSES = [0, 1, 0, 1]
ONE_HOT = {"race": ["r0", "r1"]}
ENCODED = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"), LogisticRegression(max_iter=2000)
).fit(PEOPLE, CLASSES)
LEVELLED = make_pipeline(
    make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=NAN), ["job"]), remainder="passthrough"
    ),
    LogisticRegression(max_iter=2000),
).fit(PEOPLE, CLASSES)
CODED = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["job", "kids"]), remainder="passthrough"), LogisticRegression(max_iter=2000)
).fit(PEOPLE, CLASSES)


def judged(frame: Any = PEOPLE, model: Any = ENCODED, scale: Any = "raw", **settings: Any) -> Callable[[], Any]:
    return lambda: tp.stability(model, frame, CLASSES, 0.6, space=Space(**settings), scale=scale)


def with_job(*jobs: Any) -> pd.DataFrame:
    return PEOPLE.assign(job=list(jobs))


Case = tuple[Callable[[], Any], tuple[str, ...]]
"""What is called, and what the sentence has to contain: argument, row or column, remedy."""

BAD: dict[str, Case] = {
    "bounds that exclude a sample": (
        judged(upper={"age": 60}),
        ("X['dee', 'age']=63", "[-inf, 60]", "widen", "outliers='keep'"),
    ),
    "bounds that exclude a whole number": (
        judged(kind={"kids": "integer"}, lower={"kids": 1}),
        ("X['ann', 'kids']=0", "[1, inf]", "widen lower/upper"),
    ),
    "bounds of categories": (judged(lower={"job": 0}), ("lower['job']", "categorical", "list the values")),
    "bounds of a one-hot group": (
        judged(one_hot=ONE_HOT, upper={"race": 1}),
        ("upper['race']", "no meaning", "list the values"),
    ),
    "bounds the wrong way round": (judged(lower={"age": 9}, upper={"age": 8}), ("lower['age']=9", "upper['age']=8", "swap")),
    "words as bounds": (judged(lower={"age": "young"}), ("lower['age']='young'", "must be a number")),
    "a price of zero": (judged(price={"job": 0}), ("price['job']=0", "positive", "frozen")),
    "a negative price of a group": (judged(one_hot=ONE_HOT, price={"race": -2}), ("price['race']=-2", "positive", "frozen")),
    "a price of NaN": (judged(price={"job": NAN}), ("price['job']=nan", "must be a number")),
    "one price of NaN": (judged(price=[1, 1, NAN, 1, 1]), ("price contains NaN", "leave a feature out")),
    "one-hot groups that overlap": (
        judged(one_hot={"race": ["r0", "r1"], "other": ["r1", "kids"]}),
        ("one_hot groups overlap", "'r1' is in 'race' and in 'other'", "belongs to one"),
    ),
    "a one-hot group of one": (judged(one_hot={"race": ["r0"]}), ("one_hot['race'] has 1 column", "two or more")),
    "a one-hot group of unknown columns": (
        judged(one_hot={"race": ["r0", "r9"]}),
        ("one_hot['race'] names 'r9'", "'r0', 'r1'"),
    ),
    "a one-hot group with the name of a column": (judged(one_hot={"age": ["r0", "r1"]}), ("one_hot['age']", "name of its own")),
    "one-hot groups as a list": (judged(one_hot=[["r0", "r1"]]), ("one_hot=[['r0', 'r1']]", "must be a mapping")),
    "a one-hot group as a word": (judged(one_hot={"race": "r0"}), ("one_hot['race']='r0'", "must be a list")),
    "both dummies": (
        judged(PEOPLE.assign(r0=[1, 0, 1, 1]), one_hot=ONE_HOT),
        ("X['cid'] is not one-hot in 'race' (r0=1, r1=1)", "mend the row"),
    ),
    "no dummy": (
        judged(PEOPLE.assign(r1=[0, 1, 0, 0]), one_hot=ONE_HOT),
        ("X['cid'] is not one-hot", "(all 0)", "mend the row"),
    ),
    "half a dummy": (judged(PEOPLE.assign(r0=[0.5] * 4, r1=[0.5] * 4), one_hot=ONE_HOT), ("X['ann']", "r0=0.5, r1=0.5")),
    "a dummy named alone": (
        judged(one_hot=ONE_HOT, frozen=["r0"]),
        ("frozen names 'r0'", "one-hot group 'race'", "name the group"),
    ),
    "a dummy priced alone": (judged(one_hot=ONE_HOT, price={"r1": 2.0}), ("price names 'r1'", "name the group")),
    "groups that overlap": (
        judged(groups={"who": ["age", "job"], "what": ["job"]}),
        ("groups overlap", "'job' is in 'who' and in 'what'", "belongs to one"),
    ),
    "a group with the name of a column": (judged(groups={"age": ["kids"]}), ("the group 'age'", "of a column", "of its own")),
    "a group with the name of a one-hot group": (
        judged(one_hot=ONE_HOT, groups={"race": ["age"]}),
        ("the group 'race'", "of a one-hot group", "of its own"),
    ),
    "a group of unknown features": (judged(groups={"who": ["sex"]}), ("groups['who'] names 'sex'", "'age', 'kids', 'job'")),
    "an empty group": (judged(groups={"who": []}), ("groups['who'] is empty", "name the features")),
    "an unknown feature in frozen": (judged(frozen=["sex"]), ("frozen names 'sex'", "'age', 'kids', 'job', 'r0', 'r1'")),
    "an unknown feature in movable": (judged(movable=["sex"]), ("movable names 'sex'", "'age'")),
    "an unknown feature in kind": (judged(kind={"sex": "fixed"}), ("kind names 'sex'", "'age'")),
    "an unknown feature in categories": (judged(categories={"sex": ["f"]}), ("categories names 'sex'", "'age'")),
    "an unknown feature in direction": (judged(direction={"sex": "up"}), ("direction names 'sex'", "'age'")),
    "an unknown feature in switch": (judged(switch={"sex": "frequency"}), ("switch names 'sex'", "'age'")),
    "an unknown feature in step": (judged(step={"sex": 1}), ("step names 'sex'", "'age'")),
    "an unknown kind": (
        judged(kind={"age": "number"}),
        ("kind['age']='number'", "numeric, integer, ordinal, categorical, fixed"),
    ),
    "kinds as a word, edited": (
        lambda: tp.stability(ENCODED, PEOPLE, CLASSES, 0.6, space=Space.infer(PEOPLE).edit(kind="numeric")),
        ("kind='numeric'", "must be a mapping"),
    ),
    "kinds as a word": (judged(kind="numeric"), ("kind='numeric'", "must be a mapping")),
    "text that is a number": (judged(kind={"job": "numeric"}), ("kind['job']='numeric'", "such as 'clerk'", "'categorical'")),
    "a number that the model encodes": (
        judged(model=CODED, kind={"kids": "integer"}),
        ("kind['kids']='integer'", "the model, which encodes the column", "kind 'categorical' for 'kids', or no kind"),
    ),
    "a name for every row": (
        lambda: Space().resolve(read_features(pd.DataFrame({"id": [f"p{i}" for i in range(5000)]}))),
        ("'id' has 5000 categories", "frozen", "together"),
    ),
    "a one-hot group that is a number": (judged(one_hot=ONE_HOT, kind={"race": "numeric"}), ("kind['race']", "leave it out")),
    "an unknown direction": (judged(direction={"age": "north"}), ("direction['age']='north'", "'up' or 'down'")),
    "a direction of categories": (judged(direction={"job": "up"}), ("direction['job']", "categorical", "make it ordinal")),
    "an order that is not known": (judged(kind={"job": "ordinal"}), ("'job' is ordinal", "categories={'job': [...]}")),
    "a value that is none of the categories": (
        judged(categories={"job": ["cook", "clerk"]}),
        ("X['dee', 'job']='nurse'", "'cook', 'clerk'", "add it", "drop the row"),
    ),
    "a number that is none of the categories": (
        judged(kind={"kids": "categorical"}, categories={"kids": [0, 1]}),
        ("X['cid', 'kids']=2", "add it", "drop the row"),
    ),
    "words as categories of numbers": (
        judged(kind={"kids": "categorical"}, categories={"kids": ["none"]}),
        ("categories['kids']['none']='none'", "must be a number"),
    ),
    "a category twice": (
        judged(categories={"job": ["cook", "clerk", "nurse", "cook"]}),
        ("categories['job'] lists 'cook' twice", "once"),
    ),
    "categories as a word": (judged(categories={"job": "cook"}), ("categories['job']='cook'", "list of values")),
    "categories as a list": (judged(categories=["cook"]), ("categories=['cook']", "must be a mapping")),
    "categories of a number": (judged(categories={"age": [30, 41]}), ("categories['age']", "numeric", "make it categorical")),
    "categories of a one-hot group": (
        judged(one_hot=ONE_HOT, categories={"race": ["r0"]}),
        ("categories['race']", "columns of the one-hot group", "leave it out"),
    ),
    "a category that the encoder never saw": (
        judged(with_job("cook", "clerk", "pilot", "nurse")),
        ("model=Pipeline fails on X['cid', 'job']='pilot'", "unknown categories", "values that it knows"),
    ),
    "a category that nobody has and the encoder never saw": (
        judged(categories={"job": ["cook", "clerk", "nurse", "smith"]}),
        ("model=Pipeline fails on a row with 'job'='smith'", "unknown categories", "values that it knows"),
    ),
    "a category of which the encoder makes nothing": (
        judged(with_job("cook", "clerk", "pilot", "nurse"), LEVELLED),
        ("X['cid', 'job']='pilot'", "drop the row"),
    ),
    "a gap of which the encoder makes nothing": (
        judged(with_job("cook", "clerk", None, "nurse"), LEVELLED),
        ("X['cid', 'job'] is missing", "impute or drop the row"),
    ),
    "a gap that nothing imputes": (
        judged(PEOPLE.assign(age=[30.0, NAN, 52.0, 63.0])),
        ("X['bob', 'age'] is missing", "impute or drop the row"),
    ),
    "other columns than those fitted": (
        judged(PEOPLE.rename(columns={"kids": "sons"})),
        ("model=Pipeline fails on rows of X", "fitted on"),
    ),
    "a switch by another word": (
        judged(switch={"job": "often"}),
        ("switch['job']='often'", "'frequency'", "{from: {to: cost}}"),
    ),
    "a switch of a number": (judged(switch={"age": "frequency"}), ("switch['age']", "numeric", "make it categorical")),
    "a switch table of another size": (
        judged(switch={"job": np.eye(2)}),
        ("switch['job'] of shape (2, 2)", "3 categories", "'clerk', 'cook'"),
    ),
    "a switch table with unknown names": (
        judged(switch={"job": {"cook": {"smith": 1.0}}}),
        ("switch['job'] names 'smith'", "'clerk', 'cook', 'nurse'"),
    ),
    "a switch table without costs": (
        judged(switch={"job": {"cook": "clerk"}}),
        ("switch['job']['cook']='clerk'", "{to: cost}"),
    ),
    "a switch for nothing": (
        judged(switch={"job": {"cook": {"clerk": 0.0}}}),
        ("switch['job'] from 'cook' to 'clerk' is 0", "must be positive"),
    ),
    "a switch of NaN": (judged(switch={"job": {"cook": {"clerk": NAN}}}), ("switch['job']['cook']['clerk']=nan", "a number")),
    "a price of staying": (
        judged(switch={"job": np.ones((3, 3))}),
        ("switch['job'] from 'clerk' to 'clerk' is 1", "0 from a category to itself"),
    ),
    "a step of zero": (judged(kind={"kids": "integer"}, step={"kids": 0}), ("step['kids']=0", "positive")),
    "a step of words": (judged(kind={"kids": "integer"}, step={"kids": "one"}), ("step['kids']='one'", "must be a number")),
    "a step of a number": (judged(step={"age": 1}), ("step['age']", "numeric", "make it integer")),
    "half a child": (
        judged(PEOPLE.assign(kids=[0.0, 1.0, 2.5, 1.0]), kind={"kids": "integer"}),
        ("X['cid', 'kids']=2.5", "steps of 1", "make the feature numeric"),
    ),
    "halves of children": (
        judged(PEOPLE.assign(kids=[0.5, 1.5, 2.5, 1.5]), kind={"kids": "integer"}),
        ("X['ann', 'kids']=0.5", "steps of 1", "another step"),
    ),
    "odd children in pairs": (
        judged(kind={"kids": "integer"}, step={"kids": 2}),
        ("X['bob', 'kids']=1", "steps of 2", "another step"),
    ),
    "an unknown word for outliers": (judged(outliers="drop"), ("outliers='drop'", "'refuse' or 'keep'")),
    "an unknown scale": (judged(scale="minmax"), ("scale='minmax'", "'raw', 'std', 'mad', 'iqr'", "{'age': 10}")),
    "a scale of an unknown column": (judged(scale={"sex": 1}), ("scale names 'sex'", "'age'")),
    "a scale of zero": (judged(scale={"age": 0}), ("scale['age']=0", "positive")),
    "a scale without spread": (
        judged(PEOPLE.assign(age=[30.0, 30.0, 30.0, 63.0]), scale="mad"),
        ("scale='mad'", "'age'", "use 'std'", "{'age': 10}"),
    ),
    "something that a space has not": (lambda: Space().edit(frozn=["age"]), ("'frozn'", "frozen", "groups")),
    "something that a space has not, inferred": (lambda: Space.infer(PEOPLE, cost=2.0), ("'cost'", "price")),
    "an unknown range": (lambda: Space.infer(PEOPLE, ranges="all"), ("ranges='all'", "'observed', 'quantiles' or 'none'")),  # type: ignore[arg-type]
    "lists in cells": (
        lambda: Space.infer(PEOPLE.assign(job=pd.Series([["a"], [], ["b"], []], PEOPLE.index))),
        ("X['job']", "drop the column"),
    ),
    "dates": (lambda: Space.infer(PEOPLE.assign(job=pd.Timestamp("2024-01-01"))), ("X['job']", "Datetime", "drop it")),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_space_is_refused_in_one_clear_sentence(name: str) -> None:
    call, parts = BAD[name]
    sentence = str(refusal(call))
    for part in parts:
        assert part in sentence
