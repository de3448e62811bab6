"""Files of boosters that somebody wrote on purpose: what each changes in a real one, and what is said of it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

HUGE = 2_000_000_000
"""A number of things that no file holds."""

Document = dict[str, Any]


def _param(name: str, value: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["learner"]["learner_model_param"][name] = value

    return change


def _forest(name: str, value: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["learner"]["gradient_booster"]["model"][name] = value

    return change


def _counts(name: str, value: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["learner"]["gradient_booster"]["model"]["gbtree_model_param"][name] = value

    return change


def _tree(name: str, at: int | None, value: Any) -> Callable[[Document], None]:
    """Tree 1 with a member, or one number of it, changed."""

    def change(document: Document) -> None:
        tree = document["learner"]["gradient_booster"]["model"]["trees"][1]
        if at is None:
            tree[name] = value
        else:
            tree[name][at] = value

    return change


def _node_count(value: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["learner"]["gradient_booster"]["model"]["trees"][1]["tree_param"]["num_nodes"] = value

    return change


def _learner(name: str, value: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["learner"][name] = value

    return change


def _without(name: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        del document["learner"]["gradient_booster"]["model"]["trees"][1][name]

    return change


def _chain(steps: int) -> Callable[[Document], None]:
    """Tree 1 as a single file of splits, each with a leaf on its left."""

    def change(document: Document) -> None:
        size = 2 * steps + 1
        tree = document["learner"]["gradient_booster"]["model"]["trees"][1]
        for name in ("base_weights", "loss_changes", "sum_hessian", "split_conditions"):
            tree[name] = [0.5] * size
        for name in ("default_left", "split_indices", "split_type"):
            tree[name] = [0] * size
        tree["left_children"] = [at + 1 if at % 2 == 0 and at < size - 1 else -1 for at in range(size)]
        tree["right_children"] = [at + 2 if at % 2 == 0 and at < size - 1 else -1 for at in range(size)]
        tree["parents"] = [2**31 - 1] + [at - 1 if at % 2 else at - 2 for at in range(1, size)]
        tree["tree_param"]["num_nodes"] = str(size)

    return change


def _circle(document: Document) -> None:
    """Nodes 1 and 3 as each other's child: every node has one parent, and the root reaches neither."""
    tree = document["learner"]["gradient_booster"]["model"]["trees"][1]
    left, right = tree["left_children"], tree["right_children"]
    left[:5], right[:5] = [-1, 3, -1, 1, -1], [-1, 2, -1, 4, -1]
    for name in tree:
        if isinstance(tree[name], list) and not name.startswith("categories"):
            del tree[name][5:]
    tree["tree_param"]["num_nodes"] = "5"


def _categories(value: int) -> Callable[[Document], None]:
    """A split of tree 1 on two categories, of which one is this."""

    def change(document: Document) -> None:
        tree = document["learner"]["gradient_booster"]["model"]["trees"][1]
        tree["split_type"][0] = 1
        tree["categories"], tree["categories_nodes"] = [1, value], [0]
        tree["categories_segments"], tree["categories_sizes"] = [0], [2]

    return change


def _shared(document: Document) -> None:
    _categories(7)(document)
    document["learner"]["gradient_booster"]["model"]["trees"][1]["categories_sizes"] = [HUGE]


def _named(offsets: list[int], segments: list[int], order: list[int]) -> Callable[[Document], None]:
    cats = {
        "enc": [{"offsets": offsets, "values": [97, 98]}, {"offsets": [], "values": []}],
        "feature_segments": segments,
        "sorted_idx": order,
    }
    return _forest("cats", cats)


XGBOOST: dict[str, tuple[Callable[[Document], None], str]] = {
    "a child outside": (_tree("left_children", 0, 9999), r"tree 1 has a node whose child 9999 is outside its \d+ nodes"),
    "a negative child": (_tree("right_children", 0, -7), "child -7 is outside"),
    "half a leaf": (_tree("right_children", 0, -1), "child -1 is outside"),
    "a node that is its own child": (_tree("left_children", 0, 0), "tree 1 has a node 0 with 1 parents, where 0 is right"),
    "a node with two parents": (_tree("left_children", 0, 2), r"tree 1 has a node \d with [02] parents, where 1 is right"),
    "a circle beside the root": (_circle, "tree 1 goes round in a circle"),
    "a chain without end": (_chain(30_000), "or has more than 4000 steps"),
    "a feature outside": (_tree("split_indices", 0, 2), "tree 1 asks a feature outside the 2 of the model"),
    "a negative feature": (_tree("split_indices", 0, -2), "asks a feature outside"),
    "a root that was deleted": (_tree("split_indices", 0, 2**31 - 1), "asks a feature outside|root that was deleted"),
    "an array too short": (_tree("default_left", None, [0]), r"tree 1 has \d+ nodes, but 1 'default_left'"),
    "no node": (_node_count("0"), "tree 1 has 0 nodes, but"),
    "nodes without number": (_node_count(str(HUGE)), f"tree 1 has {HUGE} nodes, but"),
    "nodes that are no number": (_node_count("1e9"), "'1e9', which is no count"),
    "a tree without thresholds": (_without("split_conditions"), "tree 1 has no 'split_conditions'"),
    "a leaf that is not finite": (_tree("split_conditions", -1, float("inf")), "a leaf without a finite value"),
    "a threshold that is no number": (_tree("split_conditions", 0, float("nan")), "compares with no number"),
    "thresholds that are texts": (_tree("split_conditions", None, ["a" * 10_000] * 9), "is no list of numbers"),
    "children that are halves": (_tree("left_children", 0, 1.5), "is no list of whole numbers"),
    "children beyond 64 bits": (_tree("parents", 0, 2**70), "beyond 64 bits|is no list of whole"),
    "a sign of 2": (_tree("default_left", 0, 2), "neither 0 nor 1"),
    "an unknown member": (_tree("splat_type", None, []), "'splat_type', which is not known"),
    "a tree that is a list": (_forest("trees", [[]] * 3), "tree 0 is no mapping"),
    "leaves that are vectors": (_tree("tree_param", None, {"num_nodes": "7", "size_leaf_vector": "3"}), "leaves hold vectors"),
    "a huge category": (_categories(HUGE), "category outside 0 to 16777215"),
    "a negative category": (_categories(-3), "category outside"),
    "categories outside": (_shared, "whose categories are outside its 2"),
    "a split without its categories": (_tree("split_type", 0, 1), "split on categories, but none of them"),
    "names of categories that overlap": (_named([0, 2, 1], [0, 2, 2], [0, 1]), "are no texts"),
    "names of categories outside": (_named([0, 1, HUGE], [0, 2, 2], [0, 1]), "are no texts"),
    "more names than it has": (_named([0, 1, 2], [0, 900, 900], [0, 1]), "differs from what it says"),
    "an order of names outside": (_named([0, 1, 2], [0, 2, 2], [0, 77]), "names one twice, or one that is not there"),
    "names of other features": (_forest("cats", {"enc": [], "feature_segments": [0], "sorted_idx": []}), "of 0 features"),
    "a class outside": (_forest("tree_info", [0, 0, 5]), "a tree for an output outside its 1"),
    "classes of other trees": (_forest("tree_info", [0]), "tells the class of 1"),
    "rounds that go back": (_forest("iteration_indptr", [0, 2, 1, 3]), "its rounds do not divide its 3 trees"),
    "rounds outside": (_forest("iteration_indptr", [0, 1, 2, 99]), "its rounds do not divide"),
    "no rounds": (_forest("iteration_indptr", []), "its rounds do not divide"),
    "trees without number": (_counts("num_trees", str(HUGE)), f"holds 3 trees, but claims {HUGE}"),
    "no parallel tree": (_counts("num_parallel_tree", "0"), "claims 0 trees a round"),
    "parallel trees without number": (_counts("num_parallel_tree", str(HUGE)), f"claims {HUGE} trees a round"),
    "trees of one number": (_tree("id", None, 0), "are not numbered from 0 on, each once"),
    "classes without number": (_param("num_class", str(HUGE)), f"claims {HUGE} outputs, but holds 3 trees"),
    "targets without number": (_param("num_target", str(HUGE)), f"claims {HUGE} outputs"),
    "no target": (_param("num_target", "0"), "which do not go together"),
    "features without number": (_param("num_feature", str(HUGE)), f"of {HUGE} features without names"),
    "no features": (_param("num_feature", "0"), "no features"),
    "fewer features": (_param("num_feature", "1"), "claims 2 features, where the model has 1"),
    "a negative count": (_param("num_class", "-1"), "'-1', which is no count"),
    "a base score of words": (_param("base_score", "half"), "its 'base_score' is 'half', which is no number"),
    "a base score beyond floats": (_param("base_score", "1E99"), "which is no number"),
    "base scores of others": (_param("base_score", "[1E-1,2E-1]"), "2 base scores, which do not go together"),
    "a base score without logit": (_param("base_score", "2E0"), "cannot be read|is no number|base"),
    "names of other features' number": (_learner("feature_names", ["a"]), "1 names of features, where it claims 2"),
    "one name twice": (_learner("feature_names", ["a", "a"]), "two of its features have one name"),
    "a name with a zero": (_learner("feature_names", ["a\0", "b"]), "letters that no text has"),
    "names that are numbers": (_learner("feature_names", [1, 2]), "is no text"),
    "types that are not known": (_learner("feature_types", ["float", "complex"]), "of a type that is not known"),
    "an objective of any letters": (_learner("objective", {"name": "reg:\n"}), "its objective is called"),
    "an objective that is not there": (_learner("objective", {"name": "reg:nothing"}), "cannot be read"),
    "a parameter of any letters": (
        _learner("objective", {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "\x1b[0m{}"}}),
        "holds a parameter that is no number",
    ),
    "a parameter of nothing": (
        _learner("objective", {"name": "reg:quantileerror", "quantile_loss_param": {"quantile_alpha": " "}}),
        "holds a parameter that is no number",
    ),
    "several classes without any": (
        _learner("objective", {"name": "multi:softprob", "softmax_multiclass_param": {"num_class": "0"}}),
        "for 0 classes",
    ),
    "softmax of others": (
        lambda document: (
            _param("num_class", "3")(document),
            _learner("objective", {"name": "multi:softprob", "softmax_multiclass_param": {"num_class": "9"}})(document),
            None,
        )[-1],
        "is for '9' classes, where it has 3",
    ),
    "two classes of one": (_param("num_class", "2"), "'binary:logistic' for 2 classes"),
    "a best round outside": (_learner("attributes", {"best_iteration": "17"}), "best round is number 17 of 3"),
    "a best round of words": (_learner("attributes", {"best_iteration": "last"}), "'last', which is no number"),
    "attributes that are a list": (_learner("attributes", []), "'attributes' is no mapping"),
    "another booster": (_learner("gradient_booster", {"name": "gbforest"}), "its booster is called 'gbforest'"),
    "a booster without a model": (_learner("gradient_booster", {"name": "dart"}), "has no 'gbtree'"),
    "a line of other weights": (
        _learner("gradient_booster", {"name": "gblinear", "model": {"weights": [0.5], "boosted_rounds": 1}}),
        "1 weights or some that are not finite",
    ),
    "no learner": (dict.clear, "has no 'learner'"),
}
"""What is changed in a document of three trees on two features, and a part of what is said."""


def _sized(text: bytes) -> bytes:
    return b"L" + struct.pack(">q", len(text)) + text


def _begun(rest: bytes) -> bytes:
    return b"{" + _sized(b"learner") + rest


UBJSON = {
    "nothing without number": (_begun(b"[$Z#L" + struct.pack(">q", 2**62) + b"}"), "of a type"),
    "truths without number": (_begun(b"[$T#l" + struct.pack(">i", 2**31 - 1) + b"}"), "of a type"),
    "floats without number": (_begun(b"[$d#L" + struct.pack(">q", 2**40) + b"}"), "a value of 4398046511104 bytes"),
    "a length that overflows": (_begun(b"[$L#L" + struct.pack(">q", 2**61) + b"}"), "where 1 are left"),
    "a negative length": (_begun(b"[$d#L" + struct.pack(">q", -1) + b"}"), "a value of -4 bytes"),
    "a list without end": (_begun(b"[#L" + struct.pack(">q", 2**50) + b"Z}"), "claims 1125899906842624 members"),
    "a text without end": (_begun(b"SL" + struct.pack(">q", 2**62)), "where 0 are left"),
    "lists in lists": (_begun(b"[" * 100_000), "nested more than 32 deep"),
    "mappings in mappings": (_begun((b"{" + _sized(b"a")) * 50_000), "nested more than 32 deep"),
    "lists of lists of a type": (_begun(b"[$[#i\x7f" * 10), "of a type"),
    "a length that is a text": (_begun(b"[#Si\x01a}"), "begins no length"),
    "a name twice": (_begun(b"Z" + _sized(b"learner") + b"Z}"), "'learner' occurs twice"),
    "no text": (_begun(b"S" + _sized(b"\xff\xfe") + b"}"), "is not UTF-8"),
    "a marker that is none": (_begun(b"Q}"), "'Q', which begins no value"),
    "more behind the end": (_begun(b"{}}") + b"more", "4 bytes follow its end"),
    "a number of any precision": (_begun(b"HL" + struct.pack(">q", 2**40)), "'H', which begins no value"),
}
"""Bytes that no writer of UBJSON leaves, and a part of what is said."""

JSON = {
    "lists in lists": (b'{"learner":' + b"[" * 200_000, "nested deeper than any model's"),
    "mappings in mappings": (b'{"learner":' + b'{"a":' * 200_000, "nested deeper than any model's"),
    "a name twice": (b'{"learner":{},"learner":{}}', "'learner' occurs twice"),
    "a name twice, inside": (b'{"learner":{"x":1,"x":2}}', "'x' occurs twice"),
    "a number of many digits": (b'{"learner":' + b"9" * 100_000 + b"}", "cannot be read"),
    "no text": (b'{"learner":"\xff"}', "byte 12 is not UTF-8"),
    "zeros": (b'{"learner":\0\0\0}', "malformed at letter 11"),
    "half of it": (b'{"learner":{"attributes":{', "breaks off or is malformed"),
    "a list": (b'{"learner":[]}', "'learner' is no mapping"),
    "nothing in it": (b'{"learner":{}}', "has no 'learner_model_param'"),
    "half a letter": (b'{"learner":{"learner_model_param":{"num_feature":"\\ud800"}}}', "letters that no text has"),
}
"""Text that is no XGBoost model, and a part of what is said."""

LIGHTGBM: dict[str, tuple[str, str, str]] = {
    "leaves without number": (r"num_leaves=\d+", f"num_leaves={HUGE}", f"as 'leaf_value', where {HUGE} belong there"),
    "no leaves": (r"num_leaves=\d+", "num_leaves=0", "tree 0 claims 0 leaves"),
    "leaves that are no number": (r"num_leaves=\d+", "num_leaves=five", "'num_leaves' that is no number"),
    "no trees a round": ("num_tree_per_iteration=1", "num_tree_per_iteration=0", "another number of them a round"),
    "classes without number": ("num_class=1", f"num_class={HUGE - 10**9}", "claims 1000000000 classes"),
    "classes of other rounds": ("num_class=1", "num_class=2", "claims 2 classes"),
    "a negative number of classes": ("num_class=1", "num_class=-1", "'-1', which is no count"),
    "several classes of one": ("objective=binary sigmoid:1", "objective=multiclass num_class:900", "it has 1 classes, but the"),
    "an objective of any letters": ("objective=binary", "objective=binary\x1b", "its objective is"),
    "a sigmoid of nothing": ("sigmoid:1", "sigmoid:-1", "cannot be read"),
    "features without number": ("max_feature_idx=1", f"max_feature_idx={10**8}", "another number of features"),
    "fewer features": ("max_feature_idx=1", "max_feature_idx=0", "another number of features"),
    "one name twice": ("Column_1", "Column_0", "two of its features have one name"),
    "no names": ("feature_names=", "feature_nones=", "'feature_nones=Column_0 Column_1', which is not known"),
    "a feature outside": (r"split_feature=\d", "split_feature=7", "tree 0 asks a feature outside the 2 of the model"),
    "a child outside": (r"left_child=\d", "left_child=99", "tree 0 has a split whose child 99 is outside its 5 leaves"),
    "a leaf outside": (r"left_child=\d", "left_child=-99", "child -99 is outside its 5 leaves"),
    "a split that is its own child": (r"left_child=\d", "left_child=0", "parents, where"),
    "a split of an unknown kind": (r"decision_type=\d+", "decision_type=14", "a kind that is not known"),
    "a split on no categories": (r"decision_type=\d+", "decision_type=1", "a set of categories that is not there"),
    "sets of categories without number": (r"num_cat=0", f"num_cat={HUGE}", f"where {HUGE + 1} belong there"),
    "a set of categories outside": (r"num_cat=0", "num_cat=1\ncat_boundaries=0 9\ncat_threshold=1", "outside its 1 masks"),
    "sets that go back": (r"num_cat=0", "num_cat=2\ncat_boundaries=0 2 1\ncat_threshold=1", "outside its 1 masks"),
    "a mask beyond 32 bits": (r"num_cat=0", "num_cat=1\ncat_boundaries=0 1\ncat_threshold=4294967296", "outside 32 bits"),
    "a threshold that is not finite": (r"threshold=\S+", "threshold=1e999", "compares with no finite number"),
    "a threshold that is no number": (r"threshold=\S+", "threshold=nan", "'threshold' that is no number"),
    "a number of many digits": (r"threshold=\S+", "threshold=" + "9" * 100_000, "'threshold' that is no number"),
    "a leaf that is not finite": (r"leaf_value=\S+", "leaf_value=-1e999", "a leaf without a finite value"),
    "a leaf that is missing": (r"leaf_value=\S+ ", "leaf_value=", "4 numbers as 'leaf_value', where 5 belong there"),
    "linear leaves without any": ("is_linear=0", "is_linear=1", "0 numbers as 'leaf_const', where 5 belong there"),
    "linear leaves of others": (
        "is_linear=0",
        "is_linear=1\nleaf_const=0 0 0 0 0\nnum_features=1 0 0 0 0\nleaf_features=9\nleaf_coeff=1",
        "a linear leaf of a feature outside its 2",
    ),
    "linear leaves without number": (
        "is_linear=0",
        f"is_linear=1\nleaf_const=0 0 0 0 0\nnum_features={HUGE} 0 0 0 0\nleaf_features=1\nleaf_coeff=1",
        f"1 numbers as 'leaf_features', where {HUGE} belong there",
    ),
    "fewer than no features": (
        "is_linear=0",
        "is_linear=1\nleaf_const=0 0 0 0 0\nnum_features=-1 1 0 0 0\nleaf_features=\nleaf_coeff=",
        "fewer than no features",
    ),
    "a line twice": ("is_linear=0", "is_linear=0\nis_linear=1", "'is_linear=1', which is not known or occurs twice"),
    "a line without sense": ("is_linear=0", "is_linear", "'is_linear', which is not known"),
    "a line of zeros": ("is_linear=0", "\0\0\0", "which is not known"),
    "no end of its trees": ("end of trees", "end of threes", "without its line 'end of trees'"),
    "no end of its parameters": ("end of parameters", "", "without its line 'end of parameters'"),
    "categories that are no JSON": ("pandas_categorical:null", "pandas_categorical:[[", "are no JSON"),
    "categories in categories": ("pandas_categorical:null", "pandas_categorical:" + "[" * 100_000, "are no JSON"),
    "categories of more columns": ("pandas_categorical:null", "pandas_categorical:[[],[],[]]", "at most 2 columns"),
    "categories that are mappings": (
        "pandas_categorical:null",
        'pandas_categorical:[[{"a":1}]]',
        "neither a text nor a number",
    ),
}
"""A pattern in the text of a binary classifier of five leaves on two features, its replacement, and what is said."""
