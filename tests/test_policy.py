"""Each page says what it may load: its own files and the scripts that stand in it."""

import pytest

from generator.policy import add_policy, hash_scripts, make_policy
from tests.conftest import search

# The Content Security Policy specification's own example, of a script and its hash.
SCRIPT = "alert('Hello, world.');"
HASH = "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"


def test_a_script_has_the_hash_of_the_specification():
    assert hash_scripts(f"<script>{SCRIPT}</script>") == [HASH]
    assert hash_scripts(f"<SCRIPT defer>{SCRIPT}</SCRIPT>\n<script>{SCRIPT}</script>") == [HASH]


def test_line_ends_are_hashed_as_a_browser_reads_them():
    one = hash_scripts("<script>a\nb</script>")
    assert hash_scripts("<script>a\r\nb</script>") == one
    assert hash_scripts("<script>a\rb</script>") == one


@pytest.mark.parametrize(
    "block",
    [
        '<script src="a.js"></script>',
        '<script type="application/json">{"a": 1}</script>',
        "<script type='application/ld+json'>{}</script>",
    ],
)
def test_files_and_data_need_no_hash(block):
    assert hash_scripts(block) == []


def test_a_policy_forbids_what_is_not_said():
    policy = make_policy(f"<script>{SCRIPT}</script>")
    assert policy.startswith("default-src 'none'; ")
    assert f"script-src 'self' file: {HASH};" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_it_stands_after_the_charset_and_before_the_rest():
    page = '<html><head>\n<meta charset="utf-8">\n<link rel="icon" href="x"></head></html>'
    told = add_policy(page)
    assert told.index("charset") < told.index("http-equiv") < told.index("<link")
    assert add_policy("<p>no page</p>") == "<p>no page</p>"


@pytest.mark.train
def test_every_page_has_one(report):
    pages = sorted(report.rglob("*.html"))
    assert len(pages) > 20
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert text.count('http-equiv="Content-Security-Policy"') == 1
        place = text.index("http-equiv")
        assert place < 1024
        assert place < text.index("<script")
        assert place < text.index("<link")


NAMES = ["index.html", "campaigns/gce-2017-07/workloads/mnist_mlp.html"]


@pytest.mark.train
@pytest.mark.parametrize(("place", "theme"), [("host", "light"), ("disk", "dark")])
def test_pages_hold_to_it_without_a_word(report, served, look, place, theme):
    root = served if place == "host" else f"{report.as_uri()}/"
    for name in NAMES:
        page = look(root + name, theme=theme)
        assert search(page, "mnist")
        page.keyboard.press("Escape")
        page.mouse.wheel(0, 3000)
        page.wait_for_timeout(200)
        assert page.said == []
        styled = "getComputedStyle(document.querySelector('.md-header')).position"
        assert page.evaluate(styled) == "sticky"


@pytest.mark.train
def test_a_script_that_is_not_the_sites_never_runs(served, look):
    page = look(served)
    page.evaluate("""() => {
        const inline = document.createElement("script");
        inline.textContent = "window.strange = 1";
        const image = new Image();
        image.setAttribute("onerror", "window.strange = 2");
        image.src = "data:,";
        document.body.append(inline, image);
    }""")
    page.wait_for_timeout(200)
    assert page.evaluate("window.strange") is None
    assert len(page.said) >= 1
