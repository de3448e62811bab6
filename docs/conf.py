"""The site: `make docs` builds it, with warnings as errors and without any network."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE)]

import tippingpoint  # noqa: E402  # after the path

project = "tippingpoint"
author = "the tippingpoint developers"
copyright = "the tippingpoint developers, BSD-3-Clause"  # noqa: A001  # Sphinx's name for it
version = release = tippingpoint.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
    "native_math",
    "generated",
    "repository_links",
]
exclude_patterns = [
    "sg_execution_times.rst",
    "_build",
    "gallery/*",
    "tutorials/*.ipynb",
    "tutorials/*.py",
    "tutorials/*.md5",
]
templates_path = ["_templates"]
default_role = "py:obj"  # `profile` in a docstring: a link where there is such a name, and code where there is none
language = "en"
smartquotes = False

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

toc_object_entries_show_parents = "hide"  # `plot()` beside a class, not its name again

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the signature shows them
autodoc_member_order = "groupwise"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "tutorials",
    "filename_pattern": r"/\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 10_000,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_signature": False,
    "capture_repr": (),  # what a script prints is all that a page shows
    "copyfile_regex": r".*\.(csv|json)",
}
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = ["svg"]
plot_include_source = False
plot_basedir = str(HERE)

html_theme = "pydata_sphinx_theme"
html_title = "tippingpoint"
html_math_renderer = "native"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_favicon = "_static/mark.svg"
html_theme_options = {
    "logo": {
        "text": "tippingpoint",
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
    },
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
}
html_sidebars: dict[str, list[str]] = {"index": []}
html_context = {"default_mode": "auto"}
