"""The 2017 logs come into the run format without losing a digit, and nothing stops an import."""

import csv
import math
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.declared import DeclaredError
from generator.reading import read_campaign_folder
from launcher.imports import import_logs
from launcher.imports.mapping import list_mappings, read_mapping
from models.run import (
    Status,
    list_run_folders,
    read_campaign,
    read_manifest,
    read_run,
    sha256_of,
    write_campaign,
    write_manifest,
)

ROOT = Path(__file__).parents[1]
COMMITTED = ROOT / "runs" / "gce-2017-07"
REFERENCE = ROOT.parent / "shared" / "reference" / "gce-2017-07"
needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason="the 2017 logs (shared/reference/gce-2017-07) are not here"
)
HEADER = "epoch,elapsed,loss,acc,val_loss,val_acc\r\n"


def _source(folder: Path, **logs: str) -> str:
    """Return a small source in the 2017 layout: its licence, and logs on the GPU."""
    place = folder / "source" / "logs" / "gpu"
    place.mkdir(parents=True)
    (folder / "source" / "LICENSE").write_text("MIT License\n", encoding="utf-8")
    for name, text in logs.items():
        (place / f"{name}.csv").write_bytes(text.encode())
    return str(folder / "source")


def _log(epochs: int = 4) -> str:
    return HEADER + "".join(f"{epoch},1.50,0.30,,,\r\n" for epoch in range(epochs))


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@needs_reference
def test_totals_match_the_reference_to_nine_digits():
    with (REFERENCE / "expected.csv").open(encoding="utf-8", newline="") as file:
        expected = {
            (row["workload"], row["build"], row["instance"]): row for row in csv.DictReader(file)
        }
    runs = [read_run(folder) for folder in list_run_folders(COMMITTED)]
    found = {(r.manifest.workload.name, r.manifest.build, r.manifest.instance): r for r in runs}
    assert len(runs) == len(expected) == 63
    assert found.keys() == expected.keys()
    for cell, row in expected.items():
        total = math.fsum(record.elapsed for record in found[cell].epochs)
        assert total == pytest.approx(float(row["total_time_s"]), rel=1e-9)
        assert len(found[cell].epochs) == int(row["epochs"])


@needs_reference
def test_importing_gives_the_committed_bytes_and_twice_changes_nothing(tmp_path):
    first = import_logs(str(REFERENCE), tmp_path)
    assert (first.mapping, first.written, first.unchanged) == ("gce-2017-07", 63, 0)
    assert (first.unplaced, first.unused) == ((), ())
    assert _files(tmp_path / "gce-2017-07") == _files(COMMITTED)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    second = import_logs(str(REFERENCE), tmp_path)
    assert (second.written, second.unchanged) == (0, 63)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == times


@needs_reference
def test_every_figure_keeps_its_text_and_its_source():
    for folder in list_run_folders(COMMITTED):
        source = read_manifest(folder).source
        data = (REFERENCE / source.path).read_bytes()
        assert source.sha256 == sha256_of(data)
        theirs = list(csv.DictReader(data.decode().splitlines()))
        with (folder / "epochs.csv").open(encoding="utf-8", newline="") as file:
            ours = list(csv.DictReader(file))
        assert [{k: row[k] for k in theirs[0]} for row in ours] == theirs


@needs_reference
def test_the_licence_stands_beside_the_figures():
    assert (COMMITTED / "LICENSE").read_bytes() == (REFERENCE / "LICENSE").read_bytes()


def test_the_committed_campaign_reads_without_a_fault():
    card = read_campaign(COMMITTED)
    # 7 workloads × (the GPU, and 4 sizes × 2 builds).
    assert len(card.cells) == 7 * (1 + 4 * 2)
    assert (card.baseline.build, card.baseline.instance) == ("pip", "k80")
    assert (card.profile, card.scenario, card.price_book) == (
        "full",
        "as-published",
        "gce-2017-07",
    )
    cells = {(cell.instance, cell.build, cell.workload) for cell in card.cells}
    assert {folder.parts[-4:-1] for folder in list_run_folders(COMMITTED)} == cells
    manifest = read_run(COMMITTED / "k80" / "pip" / "mnist_mlp" / "r0").manifest
    assert manifest.workload.parameters["batch_size"] == 128
    assert manifest.workload.parameters["epochs"] == manifest.planned_epochs == 20
    assert (manifest.dataset.name, manifest.dataset.kind) == ("MNIST", "real")
    assert manifest.source.author == "Max Woolf"
    assert manifest.source.commit == "08adcf4"
    assert manifest.seed is None
    assert manifest.software.tensorflow is None


def test_what_cant_be_placed_is_listed_and_the_rest_goes_on(tmp_path):
    source = _source(
        tmp_path,
        imdb_bidirectional_lstm_tensorflow=_log(),
        imdb_fasttext_tensorflow=_log(6),
        mnist_cnn_cntk=_log(12),
        resnet_tensorflow=_log(),
        mnist_mlp_tensorflow="",
        mnist_cnn_tensorflow=HEADER + "0,1.5,0.3,,\r\n",
        cifar10_cnn_tensorflow="epoch,seconds,loss\r\n0,1.5,0.3\r\n",
        lstm_text_generation_tensorflow=HEADER + "0,1.5,0.3,,,\r\n1,-2,0.3,,,\r\n",
        text_generator_keras_tensorflow="epoch,elapsed,loss,loss\r\n0,1,2,3\r\n",
    )
    (Path(source) / "logs" / "odd.csv").write_text("x\n", encoding="utf-8")
    report = import_logs(source, tmp_path / "runs")
    assert report.written == 1
    assert [folder.parts[-2] for folder in list_run_folders(report.folder)] == [
        "imdb_bidirectional_lstm"
    ]
    assert [str(item) for item in report.unplaced] == [
        (
            "logs/gpu/cifar10_cnn_tensorflow.csv:1: no column 'elapsed' among epoch, seconds, loss;"
            " name the one that holds 'elapsed' in the mapping's columns"
        ),
        (
            "logs/gpu/imdb_fasttext_tensorflow.csv: 6 epochs, where the mapping has 5 of"
            " imdb_fasttext; correct the mapping, or the log"
        ),
        (
            "logs/gpu/lstm_text_generation_tensorflow.csv:3: elapsed '-2' is not a positive number"
            " of seconds; restore the log"
        ),
        (
            "logs/gpu/mnist_cnn_cntk.csv: its path is like none of"
            " logs/gpu/{workload}_tensorflow.csv, logs/cpu-{build}/{instance}/{workload}_tensorflow"
            ".csv; add a pattern to the mapping's files, or one to not_logs if it is no log"
        ),
        "logs/gpu/mnist_cnn_tensorflow.csv:2: 5 fields where the header has 6; restore the log",
        "logs/gpu/mnist_mlp_tensorflow.csv: the log is empty; restore the log",
        (
            "logs/gpu/resnet_tensorflow.csv: unknown workload 'resnet' (choose from cifar10_cnn,"
            " imdb_bidirectional_lstm, imdb_fasttext, lstm_text_generation, mnist_cnn, mnist_mlp,"
            " text_generator_keras); add it to the mapping's workloads, if it is one"
        ),
        "logs/gpu/text_generator_keras_tensorflow.csv:1: column 'loss' twice; restore the log",
        (
            "logs/odd.csv: its path is like none of logs/gpu/{workload}_tensorflow.csv,"
            " logs/cpu-{build}/{instance}/{workload}_tensorflow.csv; add a pattern to the"
            " mapping's files, or one to not_logs if it is no log"
        ),
    ]


def test_what_was_left_out_is_kept_beside_the_runs_and_in_the_report(tmp_path):
    source = _source(
        tmp_path,
        imdb_bidirectional_lstm_tensorflow=_log(),
        resnet_tensorflow=_log(),
    )
    report = import_logs(source, tmp_path / "runs")
    (left,) = report.unplaced
    lines = (report.folder / "unplaced.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "file,line,reason,mend"
    assert lines[1].startswith("logs/gpu/resnet_tensorflow.csv,,")
    (item,) = read_campaign_folder(report.folder).exclusions
    assert (item.file, item.reason) == (f"{left.file} (of the source)", left.reason)
    (Path(source) / "logs" / "gpu" / "resnet_tensorflow.csv").unlink()
    import_logs(source, tmp_path / "runs")
    assert not (report.folder / "unplaced.csv").exists()


def test_a_log_that_stops_early_is_a_preempted_run(tmp_path):
    source = _source(tmp_path, imdb_fasttext_tensorflow=_log(4))
    (folder,) = list_run_folders(import_logs(source, tmp_path / "runs").folder)
    manifest = read_run(folder).manifest
    assert (manifest.status, manifest.planned_epochs) == (Status.PREEMPTED, 5)
    assert manifest.why == "the log has 4 of 5 epochs"


def test_a_run_of_ones_own_is_never_overwritten(tmp_path):
    source = _source(tmp_path, imdb_bidirectional_lstm_tensorflow=_log())
    (folder,) = list_run_folders(import_logs(source, tmp_path / "runs").folder)
    write_manifest(folder, read_manifest(folder).with_changes(source=None, status=Status.FAILED))
    before = _files(folder)
    report = import_logs(source, tmp_path / "runs")
    assert [item.reason for item in report.unplaced] == [
        "gce-2017-07/k80/pip/imdb_bidirectional_lstm/r0 holds a run that was not imported"
    ]
    assert _files(folder) == before


def test_a_campaign_of_another_source_is_never_overwritten(tmp_path):
    source = _source(tmp_path, imdb_bidirectional_lstm_tensorflow=_log())
    folder = import_logs(source, tmp_path / "runs").folder
    card = read_campaign(folder)
    before = _files(folder)
    for other, reason in (
        (None, "the campaign was measured here, not imported"),
        (card.source.model_copy(update={"author": "Ada"}), "the campaign holds the logs of Ada"),
    ):
        write_campaign(folder, card.model_copy(update={"source": other}))
        with pytest.raises(DeclaredError, match=f"{reason}.* another name: CAMPAIGN="):
            import_logs(source, tmp_path / "runs")
    write_campaign(folder, card)
    assert _files(folder) == before
    assert import_logs(source, tmp_path / "runs", campaign="copy").folder.name == "copy"
    with pytest.raises(DeclaredError, match=r"CAMPAIGN=\.\./x: it can't be the name of a campaign"):
        import_logs(source, tmp_path / "runs", campaign="../x")


def test_a_log_that_the_source_lost_is_set_aside(tmp_path):
    source = _source(
        tmp_path, imdb_bidirectional_lstm_tensorflow=_log(), imdb_fasttext_tensorflow=_log(5)
    )
    folder = import_logs(source, tmp_path / "runs").folder
    (Path(source) / "logs" / "gpu" / "imdb_fasttext_tensorflow.csv").unlink()
    report = import_logs(source, tmp_path / "runs")
    assert (report.written, report.unchanged, report.set_aside) == (0, 1, 1)
    assert [path.parts[-2] for path in list_run_folders(folder)] == ["imdb_bidirectional_lstm"]
    assert (folder / ".stale" / "k80" / "pip" / "imdb_fasttext" / "r0" / "run.json").is_file()


def test_no_figures_without_their_licence(tmp_path):
    source = _source(tmp_path, imdb_bidirectional_lstm_tensorflow=_log())
    (Path(source) / "LICENSE").unlink()
    with pytest.raises(DeclaredError, match=r"LICENSE: can't be read .* licence: put it there"):
        import_logs(source, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
    shutil.rmtree(source)
    with pytest.raises(DeclaredError, match="no such folder"):
        import_logs(source, tmp_path / "runs")


def test_a_source_that_no_mapping_fits(tmp_path):
    (tmp_path / "logs.csv").write_text("epoch,elapsed\n0,1\n", encoding="utf-8")
    with pytest.raises(DeclaredError, match=r"no mapping of the project fits .*MAPPING=my-mapp"):
        import_logs(str(tmp_path), tmp_path / "runs")
    (tmp_path / "LICENSE").write_text("MIT\n", encoding="utf-8")
    with pytest.raises(DeclaredError, match=r"of 1 file, the first: logs\.csv: its path is like"):
        import_logs(str(tmp_path), tmp_path / "runs", mapping="gce-2017-07")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("name", list_mappings())
def test_each_mapping_of_the_project_is_whole(name):
    mapping = read_mapping(name)
    assert mapping.campaign == name
    assert mapping.source.licence
    assert mapping.expected


@given(st.lists(st.floats(min_value=1e-9, max_value=1e9), min_size=4, max_size=4))
def test_any_number_survives_as_it_was_written(tmp_path_factory, seconds):
    folder = tmp_path_factory.mktemp("numbers")
    rows = [f"{epoch},{value:.17e},1.250000" for epoch, value in enumerate(seconds)]
    text = "epoch,elapsed,loss\r\n" + "\r\n".join(rows) + "\r\n"
    source = _source(folder, imdb_bidirectional_lstm_tensorflow=text)
    (run,) = list_run_folders(import_logs(source, folder / "runs").folder)
    lines = (run / "epochs.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert lines == [row + "," * 8 for row in rows]
    assert [record.elapsed for record in read_run(run).epochs] == seconds
