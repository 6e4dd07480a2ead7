# SPDX-License-Identifier: Apache-2.0
"""Settings of the site for Sphinx, and what it does not bring: formulas as MathML."""

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.writers.html5 import HTML5Translator

from fedlearn_edu.viz.style import AS_DRAWN
from tools.docs import docstrings

ROOT = Path(__file__).resolve().parents[2]

project = "fedlearn_edu"
author = "The fedlearn_edu contributors"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.linkcode",
]
add_module_names = False
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
autodoc_typehints_format = "short"
# (what overrides a method is described where that is)
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_use_ivar = True
napoleon_use_rtype = False

myst_enable_extensions = ["attrs_inline", "dollarmath"]
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
myst_heading_anchors = 6

# (`type` in a signature is also the name of fields)
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = "fedlearn_edu"
html_favicon = "static/favicon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = [str(ROOT / "build" / "docs_source" / "extra")]
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
pygments_style = "default"
pygments_dark_style = "github-dark"
html_theme_options = {"source_repository": "", "navigation_with_keys": True}


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The page of the code, from one of the reference; methods are with their class."""
    if "." in info["fullname"]:
        return None
    try:
        value = inspect.unwrap(getattr(import_module(info["module"]), info["fullname"]))
        file = Path(inspect.getsourcefile(value) or "")
        _, line = inspect.getsourcelines(value)
    except (AttributeError, ImportError, OSError, TypeError):
        return None
    if not file.is_relative_to(ROOT / "fedlearn_edu"):
        return None
    return f"../source/{file.relative_to(ROOT).as_posix()}.html#L-{line}"


class _Translator(HTML5Translator):
    def visit_Text(self, node: nodes.Text) -> None:  # noqa: N802 (its name there)
        """Words of signatures stand alone: a span for each would double a page."""
        if isinstance(node.parent, nodes.literal):
            super().visit_Text(node)
        else:
            self.body.append(self.encode(node.astext()))


# ------------------------------------------------------------------ formulas


def _inline_formula(translator: Any, node: nodes.math) -> None:
    translator.body.append(_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _formula(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(
        f'<div class="formula">{_mathml(node.astext(), "block")}</div>'
    )
    raise nodes.SkipNode


def _mathml(tex: str, display: str) -> str:
    from latex2mathml.converter import convert

    return convert(tex, display=display)


# ------------------------------------------------------------------ names


def _read_docstring(_app: Any, what: str, *told: Any) -> None:
    lines = told[-1]
    lines[:] = docstrings.as_rst("\n".join(lines)).splitlines()
    if what in ("attribute", "property"):  # what precedes a colon would be its type
        lines[:1] = [line.replace(": ", " – ") for line in lines[:1]]


def _link_names(app: Any, page: nodes.document, docname: str) -> None:
    """What stands in a text as code, and is a public name, leads to the reference."""
    objects = app.env.get_domain("py").objects
    for code in list(page.findall(nodes.literal)):
        name = code.astext().partition("(")[0]
        path = f"fedlearn_edu.{name.removeprefix('fl.')}"
        entry = objects.get(path) if _TELLING.search(name) else None
        if entry is None or _is_link(code):
            continue
        there = app.builder.get_relative_uri(docname, entry.docname)
        link = nodes.reference("", "", refuri=f"{there}#{entry.node_id}", internal=True)
        code.replace_self(link)
        link += code


# `fl.place` and `federated_sum` can only be ours; `types` may be any word.
_TELLING = re.compile(r"^fl\.|_|[A-Z]")


def _is_link(node: nodes.Node) -> bool:
    while node := node.parent:
        if isinstance(node, nodes.reference | nodes.title):
            return True
    return False


def _mark_images(app: Any, page: nodes.document, _docname: str) -> None:
    """Has `site.css` leave a picture as it is if its file asks for that."""
    for picture in page.findall(nodes.image):
        file = Path(app.srcdir) / picture["uri"]
        if file.suffix == ".png" and AS_DRAWN.encode() in file.read_bytes():
            picture["classes"].append("fl-as-drawn")


def setup(app: Any) -> None:
    app.set_translator("html", _Translator)
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(_inline_formula, None),
        block_renderers=(_formula, None),
    )
    # (before napoleon, which reads the sections of what is left)
    app.connect("autodoc-process-docstring", _read_docstring, priority=400)
    app.connect("doctree-resolved", _link_names)
    app.connect("doctree-resolved", _mark_images)
