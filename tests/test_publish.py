"""The published data: stable names, full precision, sorted, the same bytes for the same logs."""

import csv
import io
import json

import pandas as pd
import pytest

from catalog.claim import read_claim_files
from generator.publish import format_csv, write_campaign_data, write_index
from generator.reading import read_campaign_folder
from generator.report import make_report
from models.run import Status, sha256_of
from tests.conftest import ROOT, write_run

REFERENCE = ROOT.parent / "shared" / "reference" / "gce-2017-07"
GPU, CPU = ("mnist_mlp", "pip", "k80"), ("mnist_mlp", "pip", "n1-highcpu-8")


def publish(campaign_folder, target):
    report = make_report(read_campaign_folder(campaign_folder), read_claim_files())
    write_campaign_data(
        target / report.name,
        report.campaign,
        report.cells,
        report.runs,
        report.all_judgements,
        report.claim_sources,
        report.exclusions,
    )
    write_index(target, [report.campaign], report.name)
    return target / report.name


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def data_2017(tmp_path_factory):
    return publish(ROOT / "runs" / "gce-2017-07", tmp_path_factory.mktemp("data"))


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="shared/reference/gce-2017-07 is not here")
def test_cells_csv_matches_the_reference_to_nine_digits(data_2017):
    cells = {
        (r["workload"], r["build"], r["instance"]): r for r in rows_of(data_2017 / "cells.csv")
    }
    pairs = {
        "total_time_s": "time_s",
        "total_cost_usd": "cost_usd",
        "time_ratio": "time_ratio",
        "cost_ratio": "cost_ratio",
    }
    expected = rows_of(REFERENCE / "expected.csv")
    assert len(expected) == len(cells) == 63
    for row in expected:
        cell = cells[row["workload"], row["build"], row["instance"]]
        assert cell["epochs"] == row["epochs"]
        for theirs, ours in pairs.items():
            assert float(cell[ours]) == pytest.approx(float(row[theirs]), rel=1e-9)


def test_columns_and_words(data_2017):
    text = (data_2017 / "cells.csv").read_bytes().decode()
    assert text.splitlines()[0] == (
        "workload,build,instance,status,runs,epochs,time_s,time_low,time_high,time_ratio,ratio_low,"
        "ratio_high,cost_usd,cost_ratio,scenario,predicted,synthetic,profile"
    )
    row = rows_of(data_2017 / "cells.csv")[0]
    assert (row["predicted"], row["synthetic"], row["profile"]) == ("false", "false", "full")
    assert (row["status"], row["runs"], row["time_low"]) == ("measured", "1", "")
    assert "\r" not in text
    names = [(r["workload"], r["build"], r["instance"]) for r in rows_of(data_2017 / "cells.csv")]
    assert len(names) == 63
    claims = rows_of(data_2017 / "claims.csv")
    assert list(claims[0]) == ["id", "verdict", "comparisons", "hold", "smallest", "largest"]
    assert [row["id"] for row in claims] == sorted(row["id"] for row in claims)
    assert rows_of(data_2017 / "excluded.csv") == []
    assert (data_2017 / "excluded.csv").read_text() == "file,line,reason,mend\n"


def test_claims_json_has_the_rows_behind_each(data_2017):
    claims = {
        item["id"]: item for item in json.loads((data_2017 / "claims.json").read_text())["claims"]
    }
    gpu = claims["gpu-fastest"]
    assert len(gpu["rows"]) == gpu["comparisons"] == 7
    assert sum(row["holds"] for row in gpu["rows"]) == gpu["hold"] == 6
    assert gpu["source"]["author"] == "Max Woolf"
    assert gpu["rules"][0]["at_least"] == 1


def test_the_index_lists_every_file_with_its_hash(data_2017):
    index = json.loads((data_2017.parent / "index.json").read_text())
    (campaign,) = index["campaigns"]
    assert (index["shown"], campaign["name"], campaign["runs"]) == ("gce-2017-07",) * 2 + (63,)
    found = {
        path.relative_to(data_2017.parent).as_posix(): sha256_of(path.read_bytes())
        for path in data_2017.rglob("*")
        if path.is_file()
    }
    assert campaign["files"] == found
    assert sum(name.endswith("epochs.csv") for name in found) == 63
    assert "gce-2017-07/LICENSE.txt" in found


def test_logs_are_published_as_they_were_read(data_2017):
    for name in ("epochs.csv", "run.json"):
        place = f"k80/pip/mnist_mlp/r0/{name}"
        original = ROOT / "runs" / "gce-2017-07" / place
        assert (data_2017 / "runs" / place).read_bytes() == original.read_bytes()


def test_the_same_logs_give_the_same_bytes(data_2017, tmp_path):
    again = publish(ROOT / "runs" / "gce-2017-07", tmp_path)
    for path in sorted(data_2017.rglob("*")):
        if path.is_file():
            assert (again / path.relative_to(data_2017)).read_bytes() == path.read_bytes()


def test_missing_and_failed_have_rows_and_no_figures(make_campaign, tmp_path):
    folder = make_campaign({GPU: [[1.5]], CPU: []}, baseline=("pip", "k80"))
    write_run(folder, CPU, [1.0], status=Status.FAILED, why='a "bad", day', epochs_sha256=None)
    data = publish(folder, tmp_path / "data")
    _, cpu = rows_of(data / "cells.csv")
    assert (cpu["status"], cpu["runs"], cpu["time_s"], cpu["time_ratio"]) == ("failed", "0", "", "")
    (row,) = rows_of(data / "excluded.csv")
    assert row["reason"] == 'failed: a "bad", day'
    assert row["line"] == ""
    runs = {r["instance"]: r for r in rows_of(data / "runs.csv")}
    assert runs["k80"]["time_s"] == "1.5"
    assert (runs["n1-highcpu-8"]["status"], runs["n1-highcpu-8"]["time_s"]) == ("failed", "")


def test_full_precision_survives_csv():
    value = 0.1 + 0.2
    text = format_csv(pd.DataFrame({"x": [value, None], "yes": [True, False]}))
    assert text == "x,yes\n0.30000000000000004,true\n,false\n"
    assert float(next(csv.DictReader(io.StringIO(text)))["x"]) == value
