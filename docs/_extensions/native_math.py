"""Formulas as MathML, which browsers typeset themselves: no script, no network, and text that can be searched and read aloud.

latex2mathml translates, once, in the build; the font (STIX Two Math, open licence) comes with ziamath and is published beside
the pages.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import ziamath
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

FONT = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"
LIMITS = {"max", "min", "sup", "inf", "lim"}
"""Whose subscripts stand below, in a formula on a line of its own."""

FUNCTIONS = LIMITS | {"log", "exp"}
"""Names that stand a little apart from their neighbours, unless these are brackets or signs."""

NAMES = FUNCTIONS | {"∞"}
"""What the translation takes for operators, and is none."""

DOUBLE_STRUCK = {"E": "𝔼", "R": "ℝ", "P": "ℙ", "N": "ℕ", "Z": "ℤ"}
"""Letters that browsers have to be given as such: they know no other alphabets than the ordinary one."""

UPRIGHT = {"‖", "|", "∣", "/"}
"""Signs as tall as the line, without space around them: no formula of ours needs more."""

BEFORE_SIGN = set("=≠≤≥<>∈(,;[→↦+−")
"""What a minus follows that is a sign and no difference."""

BESIDE_SPACE = set("∑|‖")
"""Signs from which the name of a function stands apart all the same."""

NAMESPACE = "http://www.w3.org/1998/Math/MathML"
LINES = re.compile(r"\\begin\{gathered\}(.*)\\end\{gathered\}", re.DOTALL)
THIN = "0.1667em"


def translated(latex: str, *, display: bool) -> str:
    """A formula as MathML; one of several lines, `gathered`, as a table of them."""
    lines = LINES.fullmatch(latex.strip())
    formulas = [
        _formula(line, display=display) for line in (lines[1].split(r"\\") if lines else [latex])
    ]
    ET.register_namespace("", NAMESPACE)
    if not lines:
        return ET.tostring(formulas[0], encoding="unicode")
    root = ET.Element(_name("math"), display="block")
    table = ET.SubElement(root, _name("mtable"), displaystyle="true", rowspacing="0.6em")
    for formula in formulas:
        ET.SubElement(ET.SubElement(table, _name("mtr")), _name("mtd")).extend(formula)
    return ET.tostring(root, encoding="unicode")


def _formula(latex: str, *, display: bool) -> ET.Element:
    """A formula of one line, as browsers set it best."""
    root = ET.fromstring(convert(latex.strip(), display="block" if display else "inline"))  # noqa: S314  # our own formulas
    for each in root.iter():
        _mend(each, display=display)
    for each in root.iter():
        _space(each)
    return root


def _mend(each: ET.Element, *, display: bool) -> None:
    """What the translation calls otherwise than browsers do."""
    tag, text = _tag(each), each.text or ""
    if display and tag == "msub" and (each[0].text or "").strip() in LIMITS:
        each.tag = _name("munder")
    if each.get("mathvariant") == "double-struck":
        each.text = DOUBLE_STRUCK[text]
        del each.attrib["mathvariant"]
    if tag == "mo" and text in UPRIGHT:
        each.attrib.update(stretchy="false", lspace="0", rspace="0")
    if tag == "mo" and text in NAMES:  # and no operators with room around them
        each.tag = _name("mi")
    if tag == "mi" and text in {";", ":"}:
        each.tag = _name("mo")
        each.attrib.update(lspace="0.25em" if text == ":" else "0", rspace="0.25em")
    if text == "*":  # the asterisk of text stands high already
        each.text = "∗"
    if tag == "msup" and each[1].text and set(each[1].text) <= set("′″"):  # which are drawn raised
        each.tag = each[1].tag = _name("mrow")
        each[1][:] = [ET.Element(_name("mo"), form="postfix", lspace="0", rspace="0")]
        each[1][0].text, each[1].text = each[1].text, None
    if (
        tag == "mo" and text == "¯"
    ):  # a macron touches small letters; a line, as of `overline`, does not
        each.text = "―"
    if tag == "mi" and text == "θ":  # the slanted one of this font looks like ϑ
        each.set("mathvariant", "normal")


def _space(row: ET.Element) -> None:
    """Room beside the names of functions in a row, and none behind a minus that is a sign."""
    children, spaced = list(row), []
    if _tag(row) not in {"math", "mrow", "mtd"}:
        return
    for k, each in enumerate(children):
        before, after = (
            _end(children[k - 1], -1) if k else None,
            _end(children[k + 1], 0) if k + 1 < len(children) else None,
        )
        if (
            _tag(each) == "mo"
            and each.text == "−"
            and (before is None or before.text in BEFORE_SIGN)
        ):
            each.set("form", "prefix")
        function = _is_function(each)
        if function and before is not None and (_tag(before) != "mo" or before.text in {")", "]"}):
            spaced.append(ET.Element(_name("mspace"), width=THIN))
        spaced.append(each)
        if (
            function
            and after is not None
            and (_tag(after) != "mo" or after.text in BESIDE_SPACE)
            and not _is_function(children[k + 1])
        ):
            spaced.append(ET.Element(_name("mspace"), width=THIN))
    row[:] = spaced


def _is_function(each: ET.Element) -> bool:
    """Whether it is the name of a function, with what stands below it."""
    named = each[0] if _tag(each) in {"msub", "munder"} else each
    return (named.text or "") in FUNCTIONS


def _end(each: ET.Element, which: int) -> ET.Element:
    """The first or last sign of a part of a formula; of one with an index, what bears it."""
    while len(each):
        each = (
            each[0] if _tag(each) in {"msub", "msup", "msubsup", "mover", "munder"} else each[which]
        )
    return each


def _tag(each: ET.Element) -> str:
    return each.tag.rpartition("}")[2]


def _name(tag: str) -> str:
    return f"{{{NAMESPACE}}}{tag}"


def inline(self: Any, node: nodes.math) -> None:
    """A formula within a sentence."""
    self.body.append(translated(node.astext(), display=False))
    raise nodes.SkipNode


def display(self: Any, node: nodes.math_block) -> None:
    """A formula on a line of its own."""
    self.body.append(f'<div class="formula">{translated(node.astext(), display=True)}</div>')
    raise nodes.SkipNode


def publish_font(app: Sphinx, error: Exception | None) -> None:
    """The font, beside the style sheet that names it."""
    if error is None and app.builder.format == "html":
        shutil.copyfile(FONT, Path(app.outdir) / "_static" / FONT.name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("native", (inline, None), (display, None))
    app.connect("build-finished", publish_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
