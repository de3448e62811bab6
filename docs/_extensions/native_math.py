"""Formulas as MathML, which browsers typeset themselves: no script, no network, and text that can be searched and read aloud.

latex2mathml translates, once, in the build; the font (STIX Two Math, open licence) comes with ziamath and is published beside
the pages.
"""

from __future__ import annotations

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

DOUBLE_STRUCK = {"E": "𝔼", "R": "ℝ", "P": "ℙ", "N": "ℕ", "Z": "ℤ"}
"""Letters that browsers have to be given as such: they know no other alphabets than the ordinary one."""

NAMESPACE = "http://www.w3.org/1998/Math/MathML"


def translated(latex: str, *, display: bool) -> str:
    """A formula as MathML."""
    root = ET.fromstring(convert(latex.strip(), display="block" if display else "inline"))  # noqa: S314  # our own formulas
    for each in root.iter():
        tag = each.tag.rpartition("}")[2]
        if display and tag == "msub" and (each[0].text or "").strip() in LIMITS:
            each.tag = f"{{{NAMESPACE}}}munder"
        if each.get("mathvariant") == "double-struck":
            each.text = DOUBLE_STRUCK[each.text or ""]
            del each.attrib["mathvariant"]
        if tag == "mo" and each.text in {"‖", "|", "∣", "/"}:  # as tall as the line: no formula of ours needs more
            each.set("stretchy", "false")
    ET.register_namespace("", NAMESPACE)
    return ET.tostring(root, encoding="unicode")


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
