"""Campaigns are read whole: what is broken is listed with its reason, and never a figure."""

import csv
import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.quality import flag_runs
from generator.reading import Campaign, read_campaign_folder, read_campaigns
from models.run import (
    EPOCH_COLUMNS,
    EpochRecord,
    RunFormatError,
    Status,
    format_epochs,
    read_epochs,
    sha256_of,
)
from tests.conftest import ROOT, write_card, write_run

LOGS = ROOT / "tests" / "logs"
CELL = ("mnist_mlp", "pip", "local-1")
OTHER = ("mnist_mlp", "pip", "local-2")

with (LOGS / "expected.tsv").open(encoding="utf-8") as file:
    BROKEN = [tuple(row.values()) for row in csv.DictReader(file, delimiter="\t")]


def put_log(run_folder, data):
    """Replace a run's log, and say in its manifest that this is the one."""
    (run_folder / "epochs.csv").write_bytes(data)
    manifest = json.loads((run_folder / "run.json").read_text())
    manifest["epochs_sha256"] = sha256_of(data)
    (run_folder / "run.json").write_text(json.dumps(manifest))


def test_the_corpus_is_whole():
    assert len(BROKEN) >= 30
    assert {f"{name}.csv" for name, _, _ in BROKEN} == {path.name for path in LOGS.glob("*.csv")}


@pytest.mark.parametrize(("name", "line", "reason"), BROKEN)
def test_a_broken_log_is_listed_and_no_figure(make_campaign, name, line, reason):
    folder = make_campaign({CELL: [[1.0, 2.0], [1.5, 2.5]]})
    put_log(folder / "local-1/pip/mnist_mlp/r1", (LOGS / f"{name}.csv").read_bytes())
    campaign = read_campaign_folder(folder)
    assert [run.manifest.run_id for run in campaign.complete_runs] == ["r0"]
    (found,) = campaign.exclusions
    assert found.file == "local-1/pip/mnist_mlp/r1/epochs.csv"
    assert found.line == int(line or 0)
    assert reason in found.reason
    assert found.mend
    assert not found.flagged


def test_a_log_that_was_changed_later_is_no_figure(make_campaign):
    folder = make_campaign({CELL: [[1.0, 2.0]]})
    log = folder / "local-1/pip/mnist_mlp/r0/epochs.csv"
    log.write_text(log.read_text().replace("1.0", "0.9", 1))
    campaign = read_campaign_folder(folder)
    assert campaign.complete_runs == ()
    assert "SHA-256" in campaign.exclusions[0].reason


def change_manifest(folder, change):
    path = folder / "local-1/pip/mnist_mlp/r1/run.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest, indent=1))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m: m.update(colour="red"), "colour: Extra inputs are not permitted"),
        (lambda m: m.pop("status"), "status: Field required"),
        (lambda m: m.update(status="done"), "status: Input should be"),
        (lambda m: m.update(schema_version=2), "schema_version"),
        (lambda m: m.update(run_id="../../x"), "run_id"),
        (lambda m: m.update(instance="local-2"), "it describes local-2/pip/mnist_mlp/r1"),
        (lambda m: m.update(campaign="another"), "a run of campaign 'another'"),
        (lambda m: m.update(profile="smoke"), "profile smoke in a campaign of profile full"),
        (lambda m: m.update(planned_epochs=5), "2 epochs of 5 in a complete run"),
        (lambda m: m.update(warmup_epochs=2), "none is timed"),
        (lambda m: m["workload"].update(sha256="0" * 64), "other parameters of mnist_mlp"),
        (lambda m: m.update(status="running"), "still running, or killed"),
        (lambda m: m.update(status="failed", why="no memory"), "failed: no memory"),
        (lambda m: m.update(status="preempted"), "preempted after 2 of 2 epochs"),
    ],
)
def test_a_broken_manifest_is_listed_and_no_figure(make_campaign, change, reason):
    folder = make_campaign({CELL: [[1.0, 2.0], [1.5, 2.5], [1.1, 2.1]]})
    change_manifest(folder, change)
    campaign = read_campaign_folder(folder)
    assert [run.manifest.run_id for run in campaign.complete_runs] == ["r0", "r2"]
    (found,) = campaign.exclusions
    assert reason in found.reason
    assert str(folder) not in found.reason + found.file
    assert found.mend


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", '{"a":' * 2000, "\x00"])
def test_a_manifest_that_is_no_json_is_listed(make_campaign, text):
    folder = make_campaign({CELL: [[1.0, 2.0], [1.5, 2.5]]})
    (folder / "local-1/pip/mnist_mlp/r1/run.json").write_text(text)
    campaign = read_campaign_folder(folder)
    assert len(campaign.complete_runs) == len(campaign.exclusions) == 1


def test_a_folder_without_a_manifest_is_listed(make_campaign):
    folder = make_campaign({CELL: [[1.0]]})
    (folder / "local-1/pip/mnist_mlp/r7").mkdir()
    assert "is missing" in read_campaign_folder(folder).exclusions[0].reason


def test_a_copy_counts_once(make_campaign):
    folder = make_campaign({CELL: [[1.0, 2.0]]})
    write_run(folder, CELL, [1.0, 2.0], run_id="r1")
    campaign = read_campaign_folder(folder)
    assert len(campaign.complete_runs) == 1
    assert campaign.exclusions[0].reason == "the same log as local-1/pip/mnist_mlp/r0"


def test_a_cell_that_nobody_planned_is_listed(make_campaign):
    folder = make_campaign({CELL: [[1.0]]})
    write_run(folder, OTHER, [2.0])
    campaign = read_campaign_folder(folder)
    assert len(campaign.complete_runs) == 1
    assert "not in campaign.json" in campaign.exclusions[0].reason


def test_without_its_card_a_campaign_is_inferred(make_campaign):
    folder = make_campaign({CELL: [[1.0]], OTHER: [[2.0]]})
    (folder / "campaign.json").write_text("{")
    campaign = read_campaign_folder(folder)
    assert campaign.inferred
    assert len(campaign.card.cells) == 2
    assert campaign.card.baseline is None
    assert campaign.exclusions[0].file == "campaign.json"


def test_a_folder_of_nothing_stops_nothing(make_campaign, tmp_path):
    make_campaign({CELL: [[1.0]]})
    (tmp_path / "runs" / "empty").mkdir()
    (tmp_path / "runs" / "stray.txt").write_text("x")
    campaigns, unreadable = read_campaigns([tmp_path / "runs", tmp_path / "absent"])
    assert [campaign.name for campaign in campaigns] == ["trial"]
    assert unreadable[0].file == "empty/campaign.json"


def test_of_two_campaigns_with_one_name_the_first_counts(make_campaign, tmp_path):
    first = make_campaign({CELL: [[1.0]]})
    second = tmp_path / "others" / "trial"
    shutil.copytree(first, second)
    campaigns, _ = read_campaigns([tmp_path / "others", tmp_path / "runs"])
    assert [campaign.folder for campaign in campaigns] == [second]


def test_shared_slow_and_odd_runs_are_flagged_and_count(tmp_path):
    folder = tmp_path / "trial"
    write_card(folder, [CELL])
    write_run(folder, CELL, [1.0, 1.0, 1.0, 1.6, 1.0])
    write_run(folder, CELL, [1.0, 1.01, 1.0, 1.0, 1.0], run_id="r1")
    write_run(folder, CELL, [2.0, 2.0, 2.0, 2.0, 2.0], run_id="r2")
    shared = tuple(EpochRecord(e, 1.02, 1.0, other_cpu_s=0.5) for e in range(5))
    run = write_run(folder, CELL, [1.02] * 5, run_id="r3")
    put_log(run, format_epochs(shared).encode())
    campaign = read_campaign_folder(folder)
    assert len(campaign.complete_runs) == 4
    flags = [(item.file.split("/")[3], item.line, item.reason) for item in flag_runs(campaign)]
    # 0.5 / 1.02 = 0.49 CPUs; the cell's median is (5.01 + 5.6) / 2 of 5.01, 5.1, 5.6, 10: 5.35.
    assert flags == [
        ("r0", 5, "epoch 3 took 1.60 × the run's median epoch"),
        ("r2", 0, "the run took 1.87 × its cell's median"),
        ("r3", 0, "other processes used 0.49 CPUs while it ran"),
    ]
    assert all(item.flagged for item in flag_runs(campaign))


def test_the_2017_campaign_is_whole():
    campaign = read_campaign_folder(ROOT / "runs" / "gce-2017-07")
    assert isinstance(campaign, Campaign)
    assert len(campaign.complete_runs) == 63
    assert campaign.exclusions == ()


finite = st.floats(0, 1e9, allow_nan=False, allow_infinity=False)
records = st.builds(
    EpochRecord,
    epoch=st.just(0),
    elapsed=st.floats(1e-6, 1e9),
    loss=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    acc=st.none() | finite,
    val_loss=st.none() | finite,
    val_acc=st.none() | finite,
    cpu_s=st.none() | finite,
    other_cpu_s=st.none() | finite,
    started_at=st.none() | st.datetimes().map(lambda date: date.isoformat()),
)


@given(records)
def test_an_epoch_survives_the_disk(tmp_path_factory, record):
    path = tmp_path_factory.mktemp("log") / "epochs.csv"
    path.write_text(format_epochs((record,)), newline="\n")
    assert read_epochs(path) == (record,)


@given(
    st.binary(max_size=300) | st.text(",0123456789.\n-e" + "".join(EPOCH_COLUMNS)).map(str.encode)
)
def test_any_bytes_are_a_log_or_a_reason(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("log") / "epochs.csv"
    path.write_bytes(data)
    said = []
    for torn_end in (False, True):
        try:
            records = read_epochs(path, torn_end=torn_end)
        except RunFormatError as error:
            said.append((error.reason, error.mend))
        else:
            assert torn_end or records
    assert all(reason and mend for reason, mend in said)


@given(st.integers(0, 400))
def test_a_kill_at_any_byte_loses_one_epoch_at_most(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("campaigns") / "trial"
    write_card(folder, [CELL])
    run = write_run(folder, CELL, [1.0, 2.0, 3.0, 4.0], status=Status.RUNNING, epochs_sha256=None)
    log = run / "epochs.csv"
    data = log.read_bytes()[:cut]
    log.write_bytes(data)
    whole = max(0, data.count(b"\n") - 1)
    (kept,) = read_campaign_folder(folder).runs
    assert [record.elapsed for record in kept.epochs] == [1.0, 2.0, 3.0, 4.0][:whole]
