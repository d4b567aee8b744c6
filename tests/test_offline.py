"""Offline: a copy on a disk is the whole site, its search included; none asks another host."""

import json

import pytest

from generator.offline import write_search_script
from tests.conftest import search

pytestmark = pytest.mark.train
NAMES = ["index.html", "campaigns/gce-2017-07/conclusions.html"]


def test_the_index_is_written_a_second_time(tmp_path):
    folder = tmp_path / "search"
    folder.mkdir()
    (folder / "search_index.json").write_text('{"docs": [1]}')
    write_search_script(tmp_path)
    assert (folder / "search_index.js").read_text() == 'var __index = {"docs": [1]};\n'


def test_a_site_without_a_search_stays_as_it_is(tmp_path):
    write_search_script(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_both_indexes_say_the_same(report):
    script = (report / "search" / "search_index.js").read_text(encoding="utf-8")
    index = (report / "search" / "search_index.json").read_text(encoding="utf-8")
    assert json.loads(script.removeprefix("var __index = ").strip(";\n")) == json.loads(index)


@pytest.mark.parametrize("name", NAMES)
def test_the_search_on_a_disk_finds_what_the_host_finds(report, served, look, name):
    found = {}
    for root in (served, f"{report.as_uri()}/"):
        page = look(root + name)
        hits = [hit.removeprefix(root) for hit in search(page, "imdb_fasttext")]
        found[root] = hits
        assert any("imdb_fasttext.html" in hit for hit in hits)
        # Nobody else is asked.
        strange = [url for url in page.asked if not url.startswith((root, "data:", "about:"))]
        assert strange == []
        page.locator(".md-search-result__link").first.click()
        page.wait_for_url("**/imdb_fasttext.html*")
        assert page.said == []
    one, other = found.values()
    assert one == other
