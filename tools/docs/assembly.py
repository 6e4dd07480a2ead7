# SPDX-License-Identifier: Apache-2.0
"""Puts together what the site is made of: Markdown of the clone, lessons, code.

The pages of the clone keep their words; only where their links lead is written anew.
What they lead to comes along: code as a page of its own, pictures as files.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, final

from fedlearn_edu.course.lessons import LESSONS
from tools.docs import links, reference
from tools.docs.code import code_page
from tools.docs.execution import DocsError
from tools.docs.lessons import Pictures, from_notebook
from tools.lesson_table import short_table
from tools.release import INDEX

_FRONT = Path(__file__).with_name("front.html")
_OTHERS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md")
_ROW = re.compile(r"^\| ([^|]+) \| (.*) \|$", re.M)
_TARGET = re.compile(r"\]\(([^)#\s]+)\)")
_ABOUT = (
    "Every lesson as it looks after it was run. Solutions are folded: try first. "
    "Exercises are done in a notebook: `fedlearn-edu start` puts them into a folder "
    "of your own."
)
_WAYS = "Two paths, each from top to bottom; lessons 00 and 01 lead into both."
_LESSONS = {lesson.name for lesson in LESSONS}


@final
class Assembly:
    """The sources of the site, in a folder for Sphinx."""

    def __init__(
        self, root: Path, out: Path, notebooks: Mapping[Path, Any], lite: Path
    ) -> None:
        """Makes nothing yet.

        Args:
            root: The clone.
            out: A folder for the sources; it is emptied.
            notebooks: File to notebook, in the order of the lessons.
            lite: The lessons for a browser, if they were built.
        """
        self._root, self._out, self._notebooks = root, out, notebooks
        self._lite = lite
        self._lost: list[str] = []
        self._targets: set[Path] = set()

    def write(self) -> None:
        """Writes all sources.

        Raises:
            DocsError: if a link leads to nothing.
        """
        shutil.rmtree(self._out, ignore_errors=True)
        for page in self._pages():
            self._write_markdown(page.relative_to(self._root))
        pictures = Pictures(self._out / "extra" / "lessons")
        for path, notebook in self._notebooks.items():
            self._write_lesson(path.relative_to(self._root), notebook, pictures)
        self._refuse_lost()
        self._write("lessons/index.md", self._contents())
        for name, text in reference.pages().items():
            self._write(f"reference/{name}.rst", text)
        self._write("reference/index.md", self._reference())
        self._write_targets()

    def _pages(self) -> list[Path]:
        others = [self._root / name for name in _OTHERS]
        return [*others, *sorted((self._root / "docs").rglob("*.md"))]

    def _write(self, name: str, text: str) -> None:
        file = self._out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    # -------------------------------------------------------------- Markdown

    def _linked(self, text: str, file: Path) -> str:
        text, found = links.rewrite(text, file, self._root)
        self._lost += [
            f"{file}: {each}" for each in sorted(found) if not self._is_there(each)
        ]
        self._targets |= found
        return text

    def _is_there(self, target: Path) -> bool:
        if target.suffix == ".ipynb":
            here = {INDEX.stem, *(path.stem for path in self._notebooks)}
            return target.stem in here
        return (self._root / target).is_file()

    def _write_markdown(self, file: Path) -> None:
        text = (self._root / file).read_text(encoding="utf-8")
        if file.name == "README.md" and file.parent == Path():
            text = self._front(text)
        elif file == Path("docs/decisions/README.md"):
            text += _toctree(
                sorted(each.stem for each in (self._root / file).parent.glob("0*.md"))
            )
        self._write(f"{links.page_of(file)}.md", self._linked(text, file))

    def _front(self, text: str) -> str:
        """The story of the README; the way in and what moves come first."""
        title, claim, story = text.split("\n\n", 2)
        first = LESSONS[0].name
        start, says = f"lessons/{first}.html", "Read lesson 00"
        if self._is_lite(first):
            start, says = _lite_address(first), "Start lesson 00 in this tab"
        front = _FRONT.read_text(encoding="utf-8")
        front = front.replace("START_TEXT", says).replace("START", start)
        trees = [_toctree(["lessons/index"], "Learn"), *self._guides(text)]
        trees.insert(-1, _toctree(["reference/index"], "Reference"))
        raw = f"```{{raw}} html\n{front}\n```"
        return "\n\n".join([title, claim, raw, story, *trees])

    def _guides(self, readme: str) -> Iterator[str]:
        """The pages in the order of the README's table; those it leaves out, last."""
        every = [path.relative_to(self._root) for path in self._pages()]
        left = dict.fromkeys(map(links.page_of, every))
        for folder in ("index", "decisions/0"):
            left = {name: None for name in left if not name.startswith(folder)}
        rows = _ROW.findall(readme.partition("## Reference\n")[2])
        for about, row in rows[1:]:
            named = [Path(each) for each in _TARGET.findall(row) if each[-3:] == ".md"]
            names = [name for name in map(links.page_of, named) if name in left]
            left = {name: None for name in left if name not in names}
            last = [*left] if about == rows[-1][0] else []
            yield _toctree([*dict.fromkeys(names), *last], about[0].upper() + about[1:])

    # -------------------------------------------------------------- lessons

    def _write_lesson(self, file: Path, notebook: Any, pictures: Pictures) -> None:
        text = self._linked(from_notebook(notebook, pictures), file)
        title, _, rest = text.partition("\n")
        way = "Needs an [installation](../index.md#install)."
        if self._is_lite(file.stem):
            way = _button(_lite_address(file.stem, "../"))
        self._write(f"{links.page_of(file)}.md", f"{title}\n\n{way}\n{rest}")

    def _is_lite(self, lesson: str) -> bool:
        return (self._lite / "files" / lesson / f"{lesson}.ipynb").is_file()

    def _contents(self) -> str:
        """The map of the course; the notebooks in the order of the lessons."""
        here = {path.stem for path in self._notebooks}
        table = short_table(lambda each: f"{each.name}.md" * (each.name in here))
        others = [path.stem for path in self._notebooks if path.stem not in _LESSONS]
        more = [f"- [{each.capitalize()}]({each}.md)" for each in others]
        entries = [
            f"{_number(path)}{_title(notebook)} <{path.stem}>"
            for path, notebook in self._notebooks.items()
        ]
        parts = ["# The lessons", _ABOUT, _WAYS, table, *more, _toctree(entries)]
        return "\n\n".join(parts)

    # -------------------------------------------------------------- reference and code

    def _reference(self) -> str:
        faces = [face.name for face in reference.faces()]
        rows = [
            f"| [`{f.short}`]({f.name}.rst) | {len(f.names)} |"
            for f in reference.faces()
        ]
        table = "\n".join(["| module | names |", "| --- | ---: |", *rows])
        return f"# All public names\n\n{table}\n{_toctree(faces)}"

    def _write_targets(self) -> None:
        defined = {file.relative_to(self._root) for file in reference.files()}
        for target in sorted(self._targets | defined):
            source = self._root / target
            if target.suffix in links.PICTURES and source.is_file():
                (self._out / target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, self._out / target)
            elif target.suffix not in (".md", ".ipynb") and source.is_file():
                page = code_page(source.read_text(encoding="utf-8"), target)
                self._write(f"extra/{links.page_of(target)}.html", page)

    def _refuse_lost(self) -> None:
        if self._lost:
            raise DocsError(
                "links of the pages lead nowhere",
                expected="the name of a file of the clone",
                found=f"{len(self._lost)} that are not there",
                where="\n".join(self._lost),
                do="mend the link in the notebook or in the page",
            )


def _number(lesson: Path) -> str:
    """`06a · ` for `06a_sequences`; nothing for what has no number."""
    number, _, rest = lesson.stem.partition("_")
    return f"{number} · " if rest and number[:2].isdigit() else ""


def _title(notebook: Any) -> str:
    first: str = notebook.cells[0].source
    return first.partition("\n")[0].removeprefix("# ")


def _toctree(names: list[str], caption: str = "") -> str:
    options = [*[f":caption: {caption}"] * bool(caption), ":hidden:"]
    return "\n".join(["", "```{toctree}", *options, "", *names, "```", ""])


def _lite_address(lesson: str, up: str = "") -> str:
    return f"{up}{links.LITE}/lab/index.html?path={lesson}/{lesson}.ipynb"


def _button(address: str) -> str:
    return (
        f'```{{raw}} html\n<p><a class="button" href="{address}">'
        "Open in the browser</a></p>\n```"
    )
