# SPDX-License-Identifier: Apache-2.0
"""Settings of the site for Sphinx, and what it does not bring.

That is: formulas as MathML, our docstrings, and names and code that lead somewhere.
"""

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.pycode import ModuleAnalyzer

from tools.docs import docstrings, pages, reference

project = "fedlearn_edu"
author = "The fedlearn_edu contributors"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
root_doc = "README"
# (autosummary writes files of the first kind)
source_suffix = {".rst": "restructuredtext", ".md": "markdown", ".ipynb": "markdown"}
include_patterns = ["*.md", "*/README.md", "docs/**.md", "**.ipynb"]
include_patterns += ["reference/*.rst"]
# (by its whole name: autosummary looks beside the sources)
templates_path = [str(pages.TEMPLATES)]
autosummary_context = {"groups": reference.groups}
add_module_names = False
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
autodoc_typehints_format = "short"
# (what overrides a method is described where that is)
autodoc_inherit_docstrings = False
viewcode_follow_imported_members = True
autodoc_member_order = "bysource"
napoleon_use_ivar = True
napoleon_use_rtype = False

myst_enable_extensions = ["attrs_inline", "dollarmath"]
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
myst_heading_anchors = 6

# (`type` in a signature is also the name of fields; functions in settings are not kept)
suppress_warnings = ["ref.python", "config.cache"]

html_theme = "furo"
html_title = "fedlearn_edu"
html_favicon = "static/favicon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("copy.js", {"defer": "defer"}), ("explorers.js", {"defer": "defer"})]
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False
pygments_style = "default"
pygments_dark_style = "github-dark"
html_theme_options = {"source_repository": "", "navigation_with_keys": True}


# ------------------------------------------------------------------ formulas


def _formula(block: bool) -> Any:
    def write(translator: Any, node: nodes.Element) -> None:
        from latex2mathml.converter import convert

        html = convert(node.astext(), display="block" if block else "inline")
        translator.body.append(f'<div class="formula">{html}</div>' if block else html)
        raise nodes.SkipNode

    return write, None


# ------------------------------------------------------------------ pages and code


def _read_page(app: Any, name: str, content: list[str]) -> None:
    def save(png: bytes) -> str:
        file = Path("_images") / f"{sha256(png).hexdigest()[:16]}.png"
        (app.outdir / file).parent.mkdir(exist_ok=True)
        (app.outdir / file).write_bytes(png)
        return "../" * name.count("/") + file.as_posix()

    if not name.startswith("reference/"):
        content[0] = pages.markdown(app.srcdir, name, content[0], save)


def _add_code(_app: Any, env: Any) -> None:
    """Has viewcode show the modules that pages lead to."""
    for module in pages.linked_code - set(env._viewcode_modules):
        analyzer = ModuleAnalyzer.for_module(module)
        analyzer.find_tags()
        env._viewcode_modules[module] = (analyzer.code, analyzer.tags, {}, module)


# ------------------------------------------------------------------ names


def _read_docstring(
    _app: Any, what: str, name: str, value: Any, _options: Any, lines: list[str]
) -> None:
    if what == "data":
        lines[:] = reference.doc_of_data(name, value).splitlines()
    lines[:] = docstrings.as_rst("\n".join(lines)).splitlines()
    if what in ("attribute", "property"):  # what precedes a colon would be its type
        lines[:1] = [line.replace(": ", " – ") for line in lines[:1]]


def _skip_field(_app: Any, _what: str, _name: str, value: Any, *_: Any) -> bool | None:
    """Fields of a named tuple are described by its class."""
    told = str(getattr(value, "__doc__", ""))
    return True if told.startswith("Alias for field number") else None


def _link_names(app: Any, page: nodes.document, docname: str) -> None:
    """What stands in a text as code, and is a public name, leads to the reference."""
    objects = app.env.get_domain("py").objects
    for code in list(page.findall(nodes.literal)):
        name = code.astext().partition("(")[0]
        entry = objects.get(f"fedlearn_edu.{name.removeprefix('fl.')}")
        inside = (nodes.reference, nodes.title)
        if entry and _TELLING.search(name) and not _is_in(code, inside):
            there = app.builder.get_relative_uri(docname, entry.docname)
            there += f"#{entry.node_id}"
            link = nodes.reference("", "", refuri=there, internal=True)
            code.replace_self(link)
            link += code


# `fl.place` and `federated_sum` can only be ours; `types` may be any word.
_TELLING = re.compile(r"^fl\.|_|[A-Z]")


def _is_in(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    return bool(node) and (isinstance(node, kinds) or _is_in(node.parent, kinds))


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", _formula(block=False), _formula(block=True))
    app.connect("source-read", _read_page)
    app.connect("env-updated", _add_code)
    # (before napoleon, which reads the sections of what is left)
    app.connect("autodoc-process-docstring", _read_docstring, priority=400)
    app.connect("autodoc-skip-member", _skip_field)
    app.connect("doctree-resolved", _link_names)
