# SPDX-License-Identifier: Apache-2.0
"""The whole site of `make docs`, with lessons as stored: complete, and in use."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from fedlearn_edu import viz
from fedlearn_edu.course.exercise import by_path
from fedlearn_edu.course.lessons import load_all
from tests.architecture.repository import ROOT
from tests.browser.servers import serve_files
from tools.docs.still import still

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.thorough]
LARGEST_B = 400_000
HELLO = "notebooks/release/01_hello/01_hello"
_FETCHES = re.compile(
    r"<(?:script|img)[^>]*\bsrc=.(?:https?:)?//|<link[^>]*(?:stylesheet|icon)[^>]*=.(?:https?:)?//"
    r"|(?:@import|url\()\s*[\"']?(?:https?:)?//|\b(?:fetch|import)\([\"'`]https?:"
)
_LEADS = re.compile(r'<a [^>]*href="(?![a-z]+:)([^"#?]+)')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as by `make docs`: Sphinx's warnings and broken links are failures."""
    home = tmp_path_factory.mktemp("site")
    lite = home / "lite"
    for name in ["lab/index.html", "files/01_hello/01_hello.ipynb"]:
        (lite / name).parent.mkdir(parents=True)
        (lite / name).write_text("<!DOCTYPE html><title>lite</title>")
    options = ["--as-stored", "--out", str(home / "docs"), "--lite", str(lite)]
    command = [sys.executable, "-m", "tools.docs", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return home / "docs"


def test_pages_are_small_and_ask_no_other_host(site: Path) -> None:
    for file in [f for kind in ("html", "css", "js") for f in site.rglob(f"*.{kind}")]:
        text = file.read_text(encoding="utf-8")
        assert not _FETCHES.findall(text), file
        assert file.suffix != ".html" or len(text.encode()) <= LARGEST_B, file


def test_links_to_code_and_files_lead_somewhere(site: Path) -> None:
    """Those that Sphinx does not know: it names others that lead nowhere."""
    for file in site.rglob("*.html"):
        for href in _LEADS.findall(file.read_text(encoding="utf-8")):
            assert (file.parent / href).is_file(), (file, href)


def test_lesson_can_be_opened_and_downloaded(site: Path) -> None:
    first = (site / f"{HELLO}.html").read_text(encoding="utf-8")
    assert "../../../lite/lab/index.html?path=01_hello/01_hello.ipynb" in first
    assert 'href="01_hello.ipynb" download' in first
    released = (ROOT / f"{HELLO}.ipynb").read_bytes()
    assert (site / f"{HELLO}.ipynb").read_bytes() == released
    second = next(site.rglob("02_types*.html")).read_text(encoding="utf-8")
    assert "/lite/" not in second
    assert "install the package" in second
    assert "built without running" in second


def test_list_of_lessons_goes_path_by_path(site: Path) -> None:
    html = (site / "notebooks/release/index.html").read_text(encoding="utf-8")
    page = html.partition("<article")[2].partition("</article>")[0]
    paths = by_path(load_all()).values()
    found = re.findall(r'href="\w+/(\w+)\.html"', page)
    assert found == [each.name for path in paths for each in path]
    assert 'href="explorers.html"' in page


@pytest.fixture
def page(site: Path, browser: Any) -> Iterator[Any]:
    """A page of a browser at the site's front page; it asks nobody else."""
    with serve_files(site) as root:
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        shown, asked = context.new_page(), list[str]()
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto(f"{root}/")
        yield shown
        context.close()
    assert [url for url in asked if not url.startswith((root, "data:"))] == []


def test_search_finds_a_function_and_the_dark_is_kept(page: Any) -> None:
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    while page.locator("body").get_attribute("data-theme") != "dark":
        page.locator(".theme-toggle:visible").first.click()
    page.get_by_placeholder("Search").fill("federated_mean")
    page.keyboard.press("Enter")
    page.locator("ul.search a").first.click()
    page.wait_for_url(re.compile("reference/fedlearn_edu.html"))
    assert page.locator('[id="fedlearn_edu.federated_mean"]').is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_code_is_copied_without_prompts_by_keyboard(page: Any) -> None:
    page.goto(f"{page.url}reference/fedlearn_edu.html")
    block = page.locator("div.highlight", has_text=">>> ").first
    block.get_by_role("button", name="Copy this code").press("Enter")
    block.get_by_text("Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied
    assert ">>>" not in copied


def test_mean_moves_by_keyboard_and_mouse(page: Any) -> None:
    says = page.locator("figcaption").first
    slider = page.get_by_label("client 0, value")
    assert says.inner_text().endswith("adds up 105 and 5, and divides: the mean is 21.")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    assert "110 and 5, and divides: the mean is 22." in says.inner_text()
    page.get_by_label("client 2, weight").fill("0")
    assert "91 and 4, and divides: the mean is 22.75." in says.inner_text()
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 0.1 * box["width"], box["y"] + box["height"] / 2)
    assert "the mean is 22.75." not in says.inner_text()
    for client in range(5):
        page.get_by_label(f"client {client}, weight").fill("0")
    assert says.inner_text().endswith("zero by zero is no number, nan.")


def put(page: Any, explorer: Any) -> Any:
    """Puts it into a page as it is in a lesson's, and returns it there."""
    page.locator("article").evaluate(
        "(article, html) => { article.innerHTML = html;"
        " startExplorer(article.querySelector('figure')) }",
        still(explorer).data,
    )
    return page.locator("article")


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5], [1e5, 33333, 1e-5]])
def test_mean_on_the_page_is_that_of_python(weights: Any, page: Any) -> None:
    ours = viz.explore_mean([1.0, -2.5, 6.0], weights)
    there = put(page, ours)
    for key, by in (("ArrowRight", 0.5), ("ArrowLeft", -0.5), ("ArrowLeft", -0.5)):
        page.get_by_label("client 1, value").press(key)
        ours.set(value_1=ours.values["value_1"] + by)
        assert there.locator("figcaption").inner_text() == ours.sentence
        cells = BeautifulSoup(ours.html, "html.parser").select("[data-is]")
        for each in (each for each in cells if "weight" not in str(each["data-is"])):
            shown = there.locator(f"""[data-is="{each["data-is"]}"]""").first
            assert shown.text_content() == each.text


@pytest.mark.parametrize(
    ("values", "zero", "fan_out"),
    [([1, 2, 3, 4, 5], 1, 2), ([1, -2.5, 3], 0, 4), (list(range(12)), 2, 3)],
)
def test_aggregation_on_the_page_is_that_of_python(
    values: list[float], zero: int, fan_out: int, page: Any
) -> None:
    ours = viz.explore_aggregation(values, zero=zero, fan_out=fan_out)
    there = put(page, ours)
    for step in range(ours.values["step"], -1, -1):
        ours.set(step=step)
        assert there.locator("figcaption").inner_text() == ours.sentence
        table = BeautifulSoup(ours.html, "html.parser").get_text("|")
        shown = BeautifulSoup(there.locator("div").first.inner_html(), "html.parser")
        assert shown.get_text("|") == table
        page.get_by_role("slider", name="step").press("ArrowLeft")
    there.get_by_label("zero").select_option("0")
    assert "reports" in there.locator("figcaption").inner_text()


@pytest.mark.parametrize(
    "path",
    [
        "index.html",
        f"{HELLO}.html",
        "docs/from_tff.html",
        "docs/teaching.html",
        "reference/fedlearn_edu.framework.html",
        "_modules/fedlearn_edu/language/averages.html",
    ],
)
def test_page_is_as_wide_as_a_phone(path: str, page: Any) -> None:
    page.set_viewport_size({"width": 600, "height": 900})
    page.goto(f"{page.url}{path}")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 600
