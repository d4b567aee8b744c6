"""Accessible: no grave fault by axe, and a reader with a keyboard, or with paper, is served."""

import importlib.util
from pathlib import Path

import pytest

from tests.conftest import search

pytestmark = pytest.mark.train
CAMPAIGN = "campaigns/gce-2017-07"
THEMES = [(theme, width) for theme in ("light", "dark") for width in (390, 1280)]


@pytest.fixture(scope="module")
def axe():
    # The script itself: the package's own helper adds a script tag, which pages forbid.
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None:
        pytest.fail("axe-playwright-python is missing: install requirements/dev.txt")
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def grave_faults(page):
    found = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
    return [
        (fault["id"], node["target"], node["failureSummary"])
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


def kinds_of_pages(report):
    """Return a page of each kind: all at the top, all of a campaign, one of its workloads."""
    pages = [*report.glob("*.html"), *(report / CAMPAIGN).glob("*.html")]
    pages.append(min((report / CAMPAIGN / "workloads").glob("*.html")))
    return sorted(page.relative_to(report).as_posix() for page in pages)


def test_axe_finds_no_grave_fault(report, served, look, axe):
    kinds = kinds_of_pages(report)
    assert {"404.html", "index.html", "methods.html", "own-logs.html"} < set(kinds)
    assert len(kinds) >= 9
    # Colours that fade from one theme to the other would be measured half-way.
    page = look(served, reduced_motion="reduce")
    found = []
    for name in kinds:
        page.goto(served + name)
        page.evaluate(axe)
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        for theme, width in THEMES:
            page.emulate_media(color_scheme=theme)
            page.set_viewport_size({"width": width, "height": 900})
            scheme = {"light": "default", "dark": "slate"}[theme]
            page.wait_for_selector(f"body[data-md-color-scheme={scheme}]")
            found += [(name, theme, width, *fault) for fault in grave_faults(page)]
    assert found == []


@pytest.mark.parametrize(("theme", "width"), THEMES)
def test_axe_finds_no_grave_fault_in_search_results(served, look, axe, theme, width):
    page = look(served, theme=theme, width=width)
    assert search(page, "mnist")
    page.evaluate(axe)
    assert grave_faults(page) == []


FOCUS = """() => {
    const at = document.activeElement;
    const shown = at.matches(".md-option") ? at.nextElementSibling : at;
    const box = shown.getBoundingClientRect(), style = getComputedStyle(shown);
    return {
        seen: box.width > 0 && box.right > 0 && box.bottom > 0
            && box.left < innerWidth && box.top < innerHeight && style.visibility === "visible",
        outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1,
        name: at.getAttribute("aria-label") || at.textContent.trim() || at.title,
        link: at.getAttribute("href") || "",
        inside: at.closest("article") !== null,
    };
}"""


@pytest.mark.parametrize("width", [390, 1280])
def test_the_keyboard_reaches_the_first_campaign_link(served, look, width):
    page = look(f"{served}index.html", width=width, reduced_motion="reduce")
    stops = []
    while not stops or not (stops[-1]["inside"] and stops[-1]["link"].startswith("campaigns/")):
        page.keyboard.press("Tab")
        page.wait_for_timeout(30)
        stops.append(page.evaluate(FOCUS))
        assert len(stops) < 40
    assert stops[0]["name"] == "Skip to content"
    at_fault = [stop for stop in stops if not (stop["seen"] and stop["outlined"] and stop["name"])]
    assert at_fault == []
    page.keyboard.press("Enter")
    page.wait_for_url(f"{served}{stops[-1]['link']}")


def test_the_skip_link_leads_past_the_navigation(served, look):
    page = look(f"{served}index.html")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.table-frame') !== null"):
            return
    raise AssertionError(page.evaluate("document.activeElement.outerHTML"))


def test_the_keyboard_opens_the_drawer_and_the_search(served, look):
    page = look(f"{served}index.html", width=390)
    page.focus("label[for=__drawer][tabindex]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".md-sidebar--primary .md-nav__link >> visible=true")
    assert page.is_checked("#__drawer")
    page = look(f"{served}index.html", width=390)
    page.focus("label.md-header__button[for=__search]")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#__search').checked")


@pytest.mark.parametrize("width", [390, 1280])
def test_pictures_keep_their_place_while_they_load(served, look, width):
    page = look(f"{served}{CAMPAIGN}/workloads/mnist_mlp.html", width=width)
    page.evaluate("""() => {
        window.moved = 0;
        new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
            moved += entry.value;
        })).observe({type: "layout-shift", buffered: true});
    }""")
    for _ in range(8):
        page.mouse.wheel(0, 700)
        page.wait_for_timeout(100)
    # A good page stays below 0.1 (web.dev/cls).
    assert page.evaluate("moved") < 0.02
    attributes = "i => i.hasAttribute('width') && i.hasAttribute('height')"
    assert page.evaluate(f"[...document.querySelectorAll('img.chart')].every({attributes})")


def test_the_first_column_stays_and_leaves_room(report, served, look):
    page = look(served, width=390)
    for name in kinds_of_pages(report):
        page.goto(served + name)
        for frame in page.query_selector_all(".table-frame"):
            frame.evaluate("frame => { frame.scrollLeft = 200; }")
            first, room = frame.evaluate("""frame => {
                const first = frame.querySelector("td").getBoundingClientRect();
                return [first.left >= frame.getBoundingClientRect().left - 1,
                        first.width <= 0.6 * innerWidth];
            }""")
            assert (first, room) == (True, True), (name, frame.get_attribute("aria-label"))


def test_nothing_moves_for_those_who_asked_for_it(served, look):
    page = look(f"{served}index.html", reduced_motion="reduce")
    moving = """[...document.querySelectorAll('*')].filter((e) => {
        const style = getComputedStyle(e);
        return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0;
    }).length"""
    assert page.evaluate(moving) == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", f"{CAMPAIGN}/runs.html"])
def test_paper_has_charts_and_tables_whole(served, look, theme, name):
    # 180 mm of an A4 sheet, at 96 pixels an inch.
    page = look(f"{served}{name}", width=680, theme=theme)
    page.emulate_media(media="print", color_scheme=theme)
    for part in (".md-header", ".md-sidebar", ".md-footer", ".md-skip", ".headerlink"):
        shown = f"[...document.querySelectorAll('{part}')].some(e => e.offsetParent)"
        assert not page.evaluate(shown), part
    kinds = page.evaluate(
        "[...document.querySelectorAll('img.chart')].filter(i => i.offsetParent).map(i => i.src)"
    )
    assert bool(kinds) == (name == "index.html")
    assert all(kind.endswith("wide-light.svg#only-light") for kind in kinds)
    wide = "[...document.querySelectorAll('table, img')].filter(e => e.scrollWidth > 680).length"
    assert page.evaluate(wide) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    ink = page.evaluate("getComputedStyle(document.querySelector('article p')).color")
    assert ink.startswith("rgba(0, 0, 0")
