"""How Sphinx makes the site; `tools/site.py` gathers the pages and calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import latex2mathml

import marlene

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

project = "marlene"
author = "the marlene developers"
copyright = "the marlene developers, BSD-3-Clause"  # noqa: A001 (Sphinx's name)
release = version = marlene.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
templates_path = ["_templates"]
exclude_patterns = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of NumPy, SciPy and River are words here, not links
default_role = "code"
suppress_warnings = ["myst.header", "toc.empty_glob"]  # pages of programs begin at any level
highlight_language = "text"
toc_object_entries_show_parents = "hide"

myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]

autosummary_generate = True
autodoc_typehints = "none"  # docstrings say the types
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "pydata_sphinx_theme"
html_title = "marlene"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["llms.txt"]
html_show_sourcelink = False
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": {"**": ["page-toc"], "migration": [], "peers": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def formula(translator: HTML5Translator, node: nodes.Node) -> None:
    """Write a formula as MathML, which browsers draw without a script."""
    block = isinstance(node, nodes.math_block)
    tree = latex2mathml.tex2mathml(node.astext(), as_block=block)
    translator.body.append(f'<div class="formula">{tree}</div>' if block else tree)
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the formulas."""
    app.add_html_math_renderer("mathml", inline_renderers=(formula, None), block_renderers=(formula, None))
