"""The product's proof: from the 63 raw logs to the 2017 report's figures and its verdicts."""

import csv
import re
import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from catalog.claim import read_claim_files
from catalog.price_book import PriceBook
from generator.__main__ import app
from generator.reading import read_campaign_folder
from generator.report import make_report
from launcher.imports import import_logs
from tests.conftest import PLAIN_ENVIRONMENT, ROOT

REFERENCE = ROOT.parent / "shared" / "reference" / "gce-2017-07"
pytestmark = [
    pytest.mark.train,
    pytest.mark.skipif(
        not REFERENCE.is_dir(), reason="the 2017 logs (shared/reference/gce-2017-07) are not here"
    ),
]


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Return the site's data, from `make import` and `make site` alone."""
    folder = tmp_path_factory.mktemp("reproduction")
    for target in (["import", f"SRC={REFERENCE}"], ["site"]):
        command = ["make", *target, f"RUNS_DIR={folder / 'runs'}", f"SITE_DIR={folder / 'site'}"]
        result = subprocess.run(
            command,
            cwd=ROOT,
            env=PLAIN_ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
    assert len(list((folder / "runs" / "gce-2017-07").rglob("epochs.csv"))) == 63
    return folder / "site" / "data" / "gce-2017-07"


def test_every_figure_of_expected_csv_to_nine_digits(data):
    cells = {
        (row["workload"], row["build"], row["instance"]): row
        for row in read_rows(data / "cells.csv")
    }
    expected = read_rows(REFERENCE / "expected.csv")
    assert len(expected) == len(cells) == 63
    names = {
        "total_time_s": "time_s",
        "total_cost_usd": "cost_usd",
        "time_ratio": "time_ratio",
        "cost_ratio": "cost_ratio",
    }
    for row in expected:
        found = cells[row["workload"], row["build"], row["instance"]]
        assert found["epochs"] == row["epochs"]
        for theirs, ours in names.items():
            assert float(found[ours]) == pytest.approx(float(row[theirs]), rel=1e-9), row


def test_every_verdict_of_claims_md(data):
    lines = (REFERENCE / "claims.md").read_text(encoding="utf-8").splitlines()
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    found = {row["id"]: row for row in read_rows(data / "claims.csv")}
    assert len(rows[2:]) == 18
    for name, _, _, verdict, evidence in rows[2:]:
        expected = "partly supported" if verdict == "partly" else verdict
        assert found[name]["verdict"] == expected, name
        if match := re.match(r"(\d+) of (\d+)", evidence):
            assert (found[name]["hold"], found[name]["comparisons"]) == (match[1], match[2]), name


def test_nothing_was_left_out(data):
    assert read_rows(data / "excluded.csv") == []


def verdicts(folder, **options):
    report = make_report(read_campaign_folder(folder), read_claim_files(), **options)
    return {item.claim.id: item.verdict for item in report.all_judgements}


@pytest.fixture(scope="module")
def published():
    return verdicts(ROOT / "runs" / "gce-2017-07")


def test_a_changed_log_changes_the_verdict(tmp_path, published):
    source = tmp_path / "source"
    shutil.copytree(REFERENCE, source)
    # 64 vCPUs, compiled, train the CNN in a tenth of the time: faster than the GPU, and cheaper.
    log = source / "logs" / "cpu-compiled" / "cpu64" / "mnist_cnn_tensorflow.csv"
    header, *lines = log.read_text(encoding="utf-8").splitlines()
    fields = [line.split(",") for line in lines]
    faster = [",".join([row[0], str(float(row[1]) / 10), *row[2:]]) for row in fields]
    log.write_text("\n".join([header, *faster]) + "\n", encoding="utf-8")
    report = import_logs(str(source), tmp_path / "runs")
    changed = verdicts(report.folder)
    assert {name for name in published if published[name] != changed[name]} == {
        "cnn-gpu-twice",
        "cnn-cost",
        "cnn-32-beats-64",
        "cheapest-8",
        "balance-16",
        "64-vcpus-idle",
    }
    assert changed["balance-16"] == "refuted"


def test_a_changed_price_changes_the_verdict(published):
    prices = {f"n1-highcpu-{size}": {"spot": 0.06 * size / 8} for size in (8, 16, 32, 64)}
    # Half the price of 8 vCPUs: it is dearer than they are only where it takes twice their time.
    cheap_gpu = PriceBook(
        date="2026-01-02", source="a quote", prices=prices | {"k80": {"spot": 0.03}}
    )
    changed = verdicts(ROOT / "runs" / "gce-2017-07", scenario="spot", offered=cheap_gpu)
    assert published["cheapest-8"] == "supported"
    assert changed["cheapest-8"] == "partly supported"
    assert published["64-not-worth"] == "partly supported"
    assert changed["64-not-worth"] == "supported"
    # A claim about on-demand prices finds none in that book.
    assert changed["spot-needed"] == "no data"


def test_a_changed_claim_changes_the_verdict(tmp_path, published):
    text = (ROOT / "catalog" / "claims" / "gce-2017-07.yml").read_text(encoding="utf-8")
    changed = text.replace("at_least: 0.30, at_most: 0.40", "at_least: -0.12, at_most: 0.44")
    assert changed != text
    (tmp_path / "claims.yml").write_text(changed, encoding="utf-8")
    report = make_report(
        read_campaign_folder(ROOT / "runs" / "gce-2017-07"), read_claim_files(tmp_path)
    )
    found = {item.claim.id: item.verdict for item in report.all_judgements}
    assert published["compiled-30-40"] == "partly supported"
    assert found["compiled-30-40"] == "supported"


def test_other_prices_need_no_other_run(tmp_path):
    """`make site PRICES=…` in another currency: costs by hand, and the source on the page."""
    (tmp_path / "mine.yml").write_text(
        "title: My quotes\ndate: 2026-01-02\nsource: a letter of 2 January\ncurrency: EUR\n"
        "usd_rate: {usd: 1.25, date: 2026-01-02, source: https://www.ecb.europa.eu/}\n"
        "billing: {unit_s: 3600}\nprices: {k80: 0.8, n1-highcpu-8: 0.08}\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "generator", "site", "--runs", str(ROOT / "runs")]
    command += ["--prices", str(tmp_path / "mine.yml"), "--site-dir", str(tmp_path / "site")]
    result = subprocess.run(
        command,
        cwd=tmp_path,
        env=PLAIN_ENVIRONMENT | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    data = tmp_path / "site" / "data" / "gce-2017-07"
    cells = {
        (row["workload"], row["build"], row["instance"]): row
        for row in read_rows(data / "cells.csv")
    }
    row = cells["mnist_mlp", "compiled", "n1-highcpu-8"]
    base = cells["mnist_mlp", "pip", "k80"]
    assert (row["scenario"], row["status"]) == ("own", "measured")
    assert float(row["cost_usd"]) == pytest.approx(float(row["time_s"]) * 0.1 / 3600, rel=1e-12)
    ratio = float(row["time_s"]) * 0.08 / (float(base["time_s"]) * 0.8)
    assert float(row["cost_ratio"]) == pytest.approx(ratio, rel=1e-12)
    assert cells["mnist_mlp", "pip", "n1-highcpu-64"]["status"] == "unpriced"
    assert cells["mnist_mlp", "pip", "n1-highcpu-64"]["cost_usd"] == ""
    page = (tmp_path / "site" / "campaigns" / "gce-2017-07" / "index.html").read_text()
    for words in ("a letter of 2 January", "One EUR is taken as 1.25 USD", "by the hour"):
        assert words in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scenario", "sopt"], "SCENARIO=sopt: did you mean 'spot'? choose from as-published"),
        (["--scenario", "own"], "SCENARIO=own: no campaign has a price in it; there are prices"),
        (["--prices", "none.yml"], "none.yml: no such file of prices; name a file, or"),
        (["--prices", "other.yml"], "Own prices: it prices no instance of any campaign; they are"),
    ],
)
def test_prices_that_cant_be_used_get_one_line(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.yml").write_text("date: 2026-01-02\nsource: x\nprices: {p5: 9}\n")
    result = CliRunner().invoke(app, ["site", "--runs", str(ROOT / "runs"), *options])
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
