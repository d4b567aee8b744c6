"""Light: what a first visit of the start page on a phone transfers."""

import gzip
from urllib.parse import unquote, urlsplit

import pytest

BUDGET_KIB = 120


@pytest.mark.train
def test_a_first_visit_is_light(report, served, look):
    page = look(f"{served}index.html", width=390)
    page.wait_for_load_state("networkidle")
    sizes = {}
    for url in page.asked:
        if url.startswith("data:"):
            continue
        assert url.startswith(served)
        file = report / unquote(urlsplit(url).path).lstrip("/")
        sizes[file.name] = len(gzip.compress(file.read_bytes(), mtime=0))
    assert "index.html" in sizes
    assert any(name.endswith(".css") for name in sizes)
    assert sum(sizes.values()) <= BUDGET_KIB * 1024, sizes
