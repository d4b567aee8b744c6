"""What people's logs and mappings have wrong: never a traceback, never a figure, always a line."""

import pytest

from catalog.declared import DeclaredError
from generator.findings import find_bests
from generator.reading import list_hidden, read_campaign_folder
from generator.report import make_report
from launcher.imports import import_logs
from tests.importing import FILES, HEAD, LOG

TEN = FILES.replace("epochs: 3", "epochs: 10")


@pytest.fixture
def place(tmp_path):
    """Return a function that imports logs of `resnet` by pip: {instance: bytes}."""

    def make(files, mapping=FILES, head=HEAD):
        for name, data in files.items():
            path = tmp_path / "s" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        (tmp_path / "m.yml").write_text(head + mapping, encoding="utf-8")
        source, mapping_file = str(tmp_path / "s"), str(tmp_path / "m.yml")
        return import_logs(source, tmp_path / "runs", mapping=mapping_file)

    return make


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (b"\xef\xbb\xbf", "the log is empty"),
        ("epoch,elapsed\n0,1\n1,1e300\n", "elapsed '1e300' is not a positive number of seconds"),
        ("epoch,elapsed\n0,\u0661.\u0665\n", "is no number"),
        ("epoch,elapsed\n1_0,1\n", "epoch '1_0' is no number"),
        # Cut off within 11.5: without its end, and with epochs to come.
        ("epoch,elapsed\n0,1.5\n1,1.4\n2,1", "the last line has no end: it may be cut off"),
    ],
)
def test_a_broken_log_is_no_figure(place, log, reason):
    report = place({"small/resnet_pip.csv": LOG, "big/resnet_pip.csv": log}, TEN)
    (item,) = report.unplaced
    assert item.file == "big/resnet_pip.csv"
    assert reason in item.reason
    assert report.written == 1


def test_a_whole_log_needs_no_end_of_line(place):
    assert place({"big/resnet_pip.csv": LOG.rstrip("\n")}).unplaced == ()


@pytest.mark.parametrize(
    ("how", "log", "reason"),
    [
        ('time: {unit: "mm:ss"}', "epoch,elapsed\n0,01:75\n", "not written as mm:ss"),
        ("accuracy: percent", "epoch,elapsed,acc\n0,1,150\n", "acc '150' is no percentage"),
    ],
)
def test_an_impossible_value_is_no_figure(place, how, log, reason):
    good = "epoch,elapsed,acc\n0,00:01,50\n"
    good = good if ":ss" in how else good.replace("00:01", "1")
    files = {"small/mnist_mlp_pip.csv": good, "big/mnist_mlp_pip.csv": log}
    (item,) = place(files, FILES + f"format: {{{how}}}\n").unplaced
    assert reason in item.reason


def test_a_name_that_cant_be_printed_is_listed_in_one_line(place):
    report = place({"big/resnet_pip.csv": LOG, "big/a\nb\x1b[31m.csv": LOG})
    (item,) = report.unplaced
    assert item.file == r"big/a\nb\x1b[31m.csv"
    assert "\n" not in str(item)
    (kept,) = read_campaign_folder(report.folder).exclusions
    assert kept.reason == item.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("baseline: {build: pip, instance: small}\n", "the baseline pip on small is no cell"),
        ("usd_per_hour: {bigg: 1}\n", "'bigg', which is no instance of the mapping; did you mean"),
        ("price_book: gce\n", "no price book 'gce'"),
        ("date: 2026-13-45\n", "not YAML (month must be in 1..12)"),
        ("scenario: {{x}}\n", "a key that is no plain name"),
    ],
)
def test_a_name_or_value_that_isnt_is_one_line(place, tmp_path, text, reason):
    with pytest.raises(DeclaredError) as caught:
        place({"big/resnet_pip.csv": LOG}, FILES + text)
    assert reason in str(caught.value)
    assert "m.yml" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "runs").exists()


def test_parameters_that_cant_be_written_down(place):
    dated = FILES.replace("epochs: 3", "epochs: 3, parameters: {when: 2026-01-02}")
    with pytest.raises(DeclaredError, match="parameters that can't be written down"):
        place({"big/resnet_pip.csv": LOG}, dated)


def test_a_name_that_is_too_long_for_a_folder(place):
    long = "x" * 150
    files = {"big/resnet_pip.csv": LOG, f"{long}/resnet_pip.csv": LOG}
    report = place(files, FILES.replace("{big:", f"{{{long}: {{}}, big:"))
    (item,) = report.unplaced
    assert "can't be a folder's name" in item.reason


def test_a_title_is_never_markup(place, tmp_path):
    from generator.pages import Site, write_pages
    from tests.conftest import ROOT

    head = HEAD.replace("Their machines", '"<script>alert(1)</script>"')
    campaign = read_campaign_folder(place({"big/resnet_pip.csv": LOG}, head=head).folder)
    report = make_report(campaign, [])
    nav = write_pages(tmp_path / "docs", ROOT / "site_src", Site([report], report, []))
    assert "<script>" not in str(nav)
    for page in (tmp_path / "docs").rglob("*.md"):
        assert "<script>alert" not in page.read_text(encoding="utf-8"), page


def test_a_campaign_that_hides_another_is_said(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name / "x").mkdir(parents=True)
        (tmp_path / name / "x" / "campaign.json").write_text("{}")
    first, second = tmp_path / "a", tmp_path / "b"
    assert list_hidden([first, second]) == [("x", first / "x", second / "x")]
    assert list_hidden([first]) == []


def test_the_only_priced_cell_beats_nothing(make_campaign):
    times = {
        ("w", "pip", "k80"): [[30.0]],
        ("w", "pip", "n1-highcpu-8"): [[10.0]],
    }
    folder = make_campaign(times, baseline=("pip", "k80"), usd_per_hour={"k80": 1.0})
    (finding,) = find_bests(make_report(read_campaign_folder(folder), []))
    assert finding.sentence.endswith("it is the only one with a price.")
    assert "beats" not in finding.sentence
