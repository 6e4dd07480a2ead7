# SPDX-License-Identifier: Apache-2.0
"""The whole site of `make docs`, with lessons as stored: complete, and in use."""

import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from fedlearn_edu.course.exercise import by_path
from fedlearn_edu.course.lessons import LESSONS
from tests.architecture.repository import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.thorough]
LARGEST_B = 300_000


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


def test_every_public_name_has_a_place(site: Path) -> None:
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(inventory).decode().splitlines()
    places = {line.split(" ")[0]: line.split(" ")[3] for line in lines}
    golden = (ROOT / "tests" / "golden" / "public_api.txt").read_text()
    for section in golden.split("\n\n"):
        face, *names = re.findall(r"[\w.]+", section)
        for name in (f"{face}.{each}" for each in names):
            page, _, anchor = places[name].partition("#")
            html = (site / page).read_text(encoding="utf-8")
            assert f'id="{anchor.replace("$", name)}"' in html, name


def test_no_page_is_too_large(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {file: file.stat().st_size for file in site.rglob("*.html")}
    largest = max(sizes, key=sizes.__getitem__)
    total = sum(each.stat().st_size for each in site.rglob("*") if each.is_file())
    name, kilobytes = largest.relative_to(site), sizes[largest] / 1e3
    told = f"{len(sizes)} pages, {total / 1e6:.1f} MB; {name} has {kilobytes:.0f} kB"
    with capsys.disabled():
        sys.stdout.write(f"\n{told}\n")
    assert sizes[largest] <= LARGEST_B


def test_lesson_opens_in_the_browser_where_it_can(site: Path) -> None:
    first = (site / "lessons" / "01_hello.html").read_text(encoding="utf-8")
    assert "../lite/lab/index.html?path=01_hello/01_hello.ipynb" in first
    second = next(site.glob("lessons/02_*.html")).read_text(encoding="utf-8")
    assert "/lite/" not in second
    assert "Needs an" in second


def test_list_of_lessons_goes_path_by_path(site: Path) -> None:
    html = (site / "lessons" / "index.html").read_text(encoding="utf-8")
    _, _, page = html.partition("<article")
    found = re.findall(r'href="(\w+)\.html"', page.partition("</article>")[0])
    paths = by_path(LESSONS).values()
    assert found == [*(each.name for path in paths for each in path), "explorers"]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def page(site: Path, browser: Any) -> Iterator[Any]:
    """A page of a browser at the site's front page; it asks nobody else."""
    handler = partial(_Quiet, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        shown = browser.new_page(viewport={"width": 1280, "height": 900})
        asked: list[str] = []
        shown.on("request", lambda request: asked.append(request.url))
        shown.goto(address)
        yield shown
        shown.close()
        server.shutdown()
    assert [url for url in asked if not url.startswith((address, "data:"))] == []


def test_search_finds_a_function(page: Any) -> None:
    page.get_by_placeholder("Search").fill("federated_mean")
    page.keyboard.press("Enter")
    page.locator("ul.search a").first.click()
    page.wait_for_url(re.compile("reference/fedlearn_edu.html"))
    assert page.locator('[id="fedlearn_edu.federated_mean"]').is_visible()


def test_the_dark_inverts_drawings_and_no_digits(page: Any) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(page.url.rpartition("/")[0] + "/guides/pictures.html")
    looks = page.locator("article img").evaluate_all(
        "all => all.map(i => [i.src.split('_what_').pop(), getComputedStyle(i).filter])"
    )
    turned = {name: look != "none" for name, look in looks}
    assert turned["travels.png"]
    assert not turned["an_update_gives_away.png"]


def test_dark_mode_is_kept_from_page_to_page(page: Any) -> None:
    def background() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = background()
    while page.locator("body").get_attribute("data-theme") != "dark":
        page.locator(".theme-toggle:visible").first.click()
    assert background() != light
    page.get_by_role("link", name="All public names").first.click()
    assert page.locator("body").get_attribute("data-theme") == "dark"
    assert background() != light


def test_picture_of_the_front_page_moves_by_keyboard_and_mouse(page: Any) -> None:
    says, marker = page.locator("#mean figcaption"), page.locator("#mean .server")
    assert "their mean at the server is 21.0 °C" in says.inner_text()
    before = marker.bounding_box()["x"]
    page.get_by_label("client 0", exact=True).focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    assert (
        "23, 21, 19, 24, 23 °C; their mean at the server is 22.0" in says.inner_text()
    )
    assert marker.bounding_box()["x"] > before
    page.get_by_label("weight of client 2").focus()
    page.keyboard.press("Home")
    assert (
        "weights 1, 1, 0, 1, 1; their mean at the server is 22.8" in says.inner_text()
    )
    dot = page.locator("#mean .client").nth(3).bounding_box()
    x, y = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 100, y)
    page.mouse.up()
    assert "24, 23 °C" not in says.inner_text()


@pytest.mark.parametrize(
    "path",
    [
        "index.html",
        "lessons/01_hello.html",
        "guides/privacy.html",
        "guides/from_tff.html",
        "reference/fedlearn_edu.framework.html",
        "decisions/0008-masks-and-messages.html",
        "source/fedlearn_edu/language/averages.py.html",
    ],
)
def test_page_is_as_wide_as_a_phone(path: str, page: Any) -> None:
    page.set_viewport_size({"width": 600, "height": 900})
    page.goto(f"{page.url}{path}")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 600
