"""Pages are written whatever a campaign holds: nothing, too, is said on a page."""

from generator.pages import Site, write_pages
from generator.reading import read_campaign_folder
from generator.report import make_report
from tests.conftest import ROOT


def test_a_campaign_without_a_run_has_its_pages(make_campaign, tmp_path):
    cells = {("mnist_mlp", "pip", "local-1"): [], ("mnist_mlp", "compiled", "local-1"): []}
    folder = make_campaign(cells, baseline=("pip", "local-1"))
    report = make_report(read_campaign_folder(folder), [])
    write_pages(tmp_path / "docs", ROOT / "site_src", Site([report], None, []))
    text = (tmp_path / "docs/campaigns/trial/index.md").read_text(encoding="utf-8")
    assert "Nothing has been measured yet" in text
    assert "| [mnist\\_mlp](workloads/mnist_mlp.md) | – | – |" in text
