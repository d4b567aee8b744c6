"""The site: strict, linked, the same twice, local, and readable at both widths in both themes."""

import html.parser
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
import yaml

from generator.pages import PageError, Site, escape_markdown, write_pages
from generator.reading import read_campaigns
from generator.report import choose_shown, make_report
from generator.site import SiteError, build_site, fingerprint, list_files, write_config
from models.run import DatasetUsed, Status
from tests.conftest import ROOT, write_card, write_run

pytestmark = pytest.mark.train
W1, W2 = "mnist_mlp", "imdb_fasttext"
EVIL = "<script>alert(1)</script> | `x` [y](javascript:z) **b**"


def write_trial(runs):
    """Write a campaign that has everything: repeats, prices, a failure, a broken log."""
    folder = runs / "trial"
    cells = [(w, b, i) for w in (W1, W2) for b, i in (("pip", "local-2"), ("pip", "local-1"))]
    cells += [(W1, "pip-onednn", "local-2"), (W2, "pip-onednn", "local-2")]
    write_card(
        folder,
        cells,
        baseline=("pip", "local-2"),
        profile="quick",
        repeats=3,
        usd_per_hour={"local-2": 0.1},
        scenario="on-demand",
    )
    made = DatasetUsed(name="made images", kind="synthetic", note="seeded")
    for index, cell in enumerate(cells[:5]):
        for repeat in range(3):
            seconds = [9.0, 1 + index + repeat / 50, 1.1 + index]
            write_run(
                folder,
                cell,
                seconds,
                run_id=f"r{repeat}",
                warmup=1,
                profile="quick",
                dataset=made,
                repeat=repeat,
            )
    write_run(
        folder,
        cells[5],
        [1.0],
        warmup=1,
        profile="quick",
        status=Status.FAILED,
        why=EVIL,
        epochs_sha256=None,
    )
    (folder / "local-2/pip/mnist_mlp/r2/epochs.csv").write_text("nonsense\n")
    return folder


def build(runs_dirs, target, wanted="", source=ROOT / "site_src"):
    """Build a site from campaigns; return its folder."""
    campaigns, unreadable = read_campaigns(runs_dirs)
    reports = [make_report(campaign, []) for campaign in campaigns]
    site = Site(reports, choose_shown(reports, wanted), unreadable)
    docs = target / "build" / "docs"
    nav = write_pages(docs, source, site)
    write_config(ROOT / "mkdocs.yml", target / "build" / "mkdocs.yml", docs, nav)
    build_site(target / "build" / "mkdocs.yml", target / "site")
    return target / "site"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    write_trial(folder / "runs")
    return build([folder / "runs"], folder)


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_same_logs_give_the_same_site(site, tmp_path):
    write_trial(tmp_path / "runs")
    again = files_of(build([tmp_path / "runs"], tmp_path))
    first = files_of(site)
    assert sorted(again) == sorted(first)
    assert [name for name in first if first[name] != again[name]] == []


class Links(html.parser.HTMLParser):
    """Collects a page's links, pictures, ids and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.loads, self.alts = [], set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids.update(filter(None, (found.get("id"), found.get("name"))))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("img", "script") and found.get("src"):
            self.loads.append(found["src"])
        if tag == "link" and found.get("href") and found.get("rel") != "canonical":
            self.loads.append(found["href"])
        if tag == "img":
            self.alts.append(found.get("alt"))


def test_every_link_and_picture_leads_somewhere(site):
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) >= 9
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                assert link not in page.loads, f"{path} loads {link}"
                continue
            address, anchor = urldefrag(link)
            target = (path.parent / unquote(address)).resolve() if address else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file() or (
                anchor and target in pages and anchor not in pages[target].ids
            ):
                broken.append((path.name, link))
    assert broken == []


def test_the_pages_are_those_promised(site):
    names = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    base = "campaigns/trial"
    assert names >= {
        "index.html",
        "methods.html",
        f"{base}/index.html",
        f"{base}/conclusions.html",
        f"{base}/data-quality.html",
        f"{base}/runs.html",
        f"{base}/workloads/{W1}.html",
        f"{base}/workloads/{W2}.html",
    }


def test_weak_figures_say_so_on_every_page_that_shows_them(site):
    for name in ("index.html", "campaigns/trial/index.html", "campaigns/trial/data-quality.html"):
        text = (site / name).read_text(encoding="utf-8")
        assert "Profile quick" in text
        assert "Synthetic data" in text
    for name in (W1, W2):
        text = (site / f"campaigns/trial/workloads/{name}.html").read_text(encoding="utf-8")
        assert "profile quick" in text
        assert "<strong>synthetic</strong>" in text
    assert "synthetic" in (site / "campaigns/trial/runs.html").read_text(encoding="utf-8")


def test_what_a_log_says_is_text_and_no_markup(site):
    text = (site / "campaigns/trial/data-quality.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in text
    assert "javascript:z" not in re.sub(r">[^<]*<", "><", text)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; | `x` [y](javascript:z) **b**" in text
    assert "no column &#x27;epoch&#x27;" in text or "no column 'epoch'" in text


def test_every_picture_has_words(site):
    for path in site.rglob("*.html"):
        page = Links(path.read_text(encoding="utf-8"))
        assert all(alt and len(alt) > 20 for alt in page.alts)


@pytest.fixture
def pages(tmp_path):
    """Return a small tree of sources whose pages can be broken."""
    source = tmp_path / "site_src"
    shutil.copytree(ROOT / "site_src", source)
    write_trial(tmp_path / "runs")
    return source


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gone](nowhere.md)", "nowhere.md"),
        ("[gone](methods.md#no-such-place)", "no-such-place"),
        ("![gone](assets/none.png)", "none.png"),
        ("[gone](/methods.html)", "/methods.html"),
    ],
)
def test_one_broken_link_or_anchor_stops_the_build(pages, tmp_path, text, message):
    (pages / "pages" / "extra.md").write_text(f"---\ntitle: Extra\n---\n\n# Extra\n\n{text}\n")
    with pytest.raises(SiteError, match=re.escape(message)):
        build([tmp_path / "runs"], tmp_path, source=pages)
    assert not (tmp_path / "site").exists()


def test_a_page_needs_a_title(pages, tmp_path):
    (pages / "pages" / "extra.md").write_text("# Extra\n")
    with pytest.raises(PageError, match=r"site_src/pages/extra\.md: no title; begin it with"):
        build([tmp_path / "runs"], tmp_path, source=pages)


def test_a_broken_template_has_its_line(pages, tmp_path):
    (pages / "templates" / "start.md.j2").write_text("one\n{{ nothing_of_this_name }}\n")
    with pytest.raises(PageError, match=r"start\.md\.j2.*nothing_of_this_name"):
        build([tmp_path / "runs"], tmp_path, source=pages)


def test_a_site_without_runs_says_what_to_do(tmp_path):
    folder = build([tmp_path / "none"], tmp_path)
    assert "Nothing has been measured yet" in (folder / "index.html").read_text(encoding="utf-8")


def test_a_strangers_folder_is_not_replaced(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "thesis.tex").write_text("x")
    write_trial(tmp_path / "runs")
    with pytest.raises(SiteError, match="holds something else than a report"):
        build([tmp_path / "runs"], tmp_path)
    assert (tmp_path / "site" / "thesis.tex").is_file()


def test_no_plugin_but_search():
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert config["plugins"] == ["search"]
    assert config["theme"]["font"] is False


def test_the_fingerprint_knows_a_change(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    first = fingerprint(list_files([tmp_path]), ["x"], tmp_path)
    assert fingerprint(list_files([tmp_path]), ["x"], tmp_path) == first
    assert fingerprint(list_files([tmp_path]), ["y"], tmp_path) != first
    (tmp_path / "a.txt").write_text("two")
    assert fingerprint(list_files([tmp_path]), ["x"], tmp_path) != first


def test_text_is_escaped():
    assert escape_markdown("a|b\n<c> *d* [e]") == r"a\|b &lt;c&gt; \*d\* \[e\]"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_in_a_browser(site, browser, width, theme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: said.append(str(error)))
    for name in ("index.html", f"campaigns/trial/workloads/{W1}.html", "campaigns/trial/runs.html"):
        page.goto((site / name).as_uri())
        # The page itself never scrolls sideways: a wide table scrolls in its own frame.
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        scheme = page.evaluate("document.body.dataset.mdColorScheme")
        assert scheme == {"light": "default", "dark": "slate"}[theme]
        shown = page.evaluate(
            "[...document.querySelectorAll('img.chart')].filter(i => i.offsetParent)"
            ".map(i => i.getAttribute('src').split('#')[0])"
        )
        kind = f"{'wide' if width > 700 else 'narrow'}-{theme}.svg"
        assert all(source.endswith(kind) for source in shown)
        if "workloads" in name:
            assert len(shown) >= 3
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    context.close()


def test_the_command_says_where_the_report_is(tmp_path):
    write_trial(tmp_path / "runs")
    command = [sys.executable, "-m", "generator", "site", "--runs", str(tmp_path / "runs")]
    command += ["--site-dir", str(tmp_path / "site"), "--campaign", "nope"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.strip() == "CAMPAIGN=nope: no such campaign; choose from trial"
    assert not Path(tmp_path / "site").exists()


def test_the_report_is_served(site):
    command = [sys.executable, "-m", "generator", "serve", "--site-dir", str(site), "--port", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            address = re.search(r"http://localhost:\d+/", server.stdout.readline())[0]
            with urllib.request.urlopen(f"{address}campaigns/trial/index.html") as answer:  # noqa: S310
                assert b"A test" in answer.read()
        finally:
            server.kill()


def test_nothing_to_serve_is_one_line(tmp_path):
    command = [sys.executable, "-m", "generator", "serve", "--site-dir", str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.strip().endswith("no site here; build it with `make site`")
