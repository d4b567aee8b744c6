"""The 2017 logs come into the run format without losing a digit, and nothing stops an import."""

import csv
import math
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.declared import DeclaredError
from launcher.importer import campaign_card, import_logs, list_layouts, read_layout
from models.run import (
    EPOCH_COLUMNS,
    Status,
    list_run_folders,
    read_campaign,
    read_manifest,
    read_run,
    sha256_of,
    write_manifest,
)

ROOT = Path(__file__).parents[1]
COMMITTED = ROOT / "runs" / "gce-2017-07"
REFERENCE = ROOT.parent / "shared" / "reference" / "gce-2017-07"
needs_reference = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason="the 2017 logs (shared/reference/gce-2017-07) are not here"
)
LAYOUT = read_layout("gce-2017-07")
HEADER = "epoch,elapsed,loss,acc,val_loss,val_acc\r\n"


def _source(folder: Path, **logs: str) -> Path:
    """Return a small source in the 2017 layout: its licence, and logs on the GPU."""
    place = folder / "source" / "logs" / "gpu"
    place.mkdir(parents=True)
    (folder / "source" / "LICENSE").write_text("MIT License\n", encoding="utf-8")
    for name, text in logs.items():
        (place / f"{name}.csv").write_bytes(text.encode())
    return folder / "source"


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
    first = import_logs(REFERENCE, LAYOUT, tmp_path)
    assert (first.written, first.unchanged) == (63, 0)
    assert [item.file for item in first.unplaced] == ["expected.csv"]
    assert _files(tmp_path / "gce-2017-07") == _files(COMMITTED)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    second = import_logs(REFERENCE, LAYOUT, tmp_path)
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
        imdb_fasttext_tensorflow=_log(4),
        mnist_cnn_cntk=_log(12),
        resnet_tensorflow=_log(),
        mnist_mlp_tensorflow="",
        mnist_cnn_tensorflow=HEADER + "0,1.5,0.3,,\r\n",
        cifar10_cnn_tensorflow="epoch,elapsed,loss,f1\r\n0,1.5,0.3,1\r\n",
        lstm_text_generation_tensorflow=HEADER + "0,1.5,0.3,,,\r\n1,-2,0.3,,,\r\n",
        text_generator_keras_tensorflow="epoch,elapsed,loss,loss\r\n0,1,2,3\r\n",
    )
    (source / "logs" / "odd.csv").write_text("x\n", encoding="utf-8")
    report = import_logs(source, LAYOUT, tmp_path / "runs")
    assert report.written == 1
    assert [folder.parts[-2] for folder in list_run_folders(report.folder)] == [
        "imdb_bidirectional_lstm"
    ]
    assert [str(item) for item in report.unplaced] == [
        (
            "logs/gpu/cifar10_cnn_tensorflow.csv:1: unknown column 'f1';"
            " map it in the layout's columns"
        ),
        "logs/gpu/imdb_fasttext_tensorflow.csv: 4 epochs of 5 in a complete run; restore the log",
        (
            "logs/gpu/lstm_text_generation_tensorflow.csv:3: elapsed '-2' is not a positive number"
            " of seconds; restore the log"
        ),
        (
            "logs/gpu/mnist_cnn_cntk.csv: the name is not like {workload}_tensorflow.csv;"
            " rename the file"
        ),
        "logs/gpu/mnist_cnn_tensorflow.csv:2: 5 fields where the header has 6; restore the log",
        "logs/gpu/mnist_mlp_tensorflow.csv: the log is empty; restore the log",
        (
            "logs/gpu/resnet_tensorflow.csv: unknown workload 'resnet';"
            " add it to the layout's workloads"
        ),
        "logs/gpu/text_generator_keras_tensorflow.csv:1: column 'loss' twice; restore the log",
        (
            "logs/odd.csv: logs is no folder of the layout gce-2017-07;"
            " add it to the layout's folders, if it holds logs"
        ),
    ]


def test_other_columns_are_mapped_as_declared(tmp_path):
    text = "step,seconds,loss\r\n" + "".join(f"{n},2.50,0.1\r\n" for n in range(4))
    source = _source(tmp_path, imdb_bidirectional_lstm_tensorflow=text)
    layout = LAYOUT.model_copy(update={"columns": {"step": "epoch", "seconds": "elapsed"}})
    report = import_logs(source, layout, tmp_path / "runs")
    assert report.unplaced == ()
    (folder,) = list_run_folders(report.folder)
    assert (folder / "epochs.csv").read_text(encoding="utf-8").splitlines()[:2] == [
        ",".join(EPOCH_COLUMNS),
        "0,2.50,0.1,,,,,,,,",
    ]


def test_a_run_of_ones_own_is_never_overwritten(tmp_path):
    source = _source(tmp_path, imdb_bidirectional_lstm_tensorflow=_log())
    (folder,) = list_run_folders(import_logs(source, LAYOUT, tmp_path / "runs").folder)
    write_manifest(folder, read_manifest(folder).with_changes(source=None, status=Status.FAILED))
    before = _files(folder)
    report = import_logs(source, LAYOUT, tmp_path / "runs")
    assert [item.reason for item in report.unplaced] == [
        "gce-2017-07/k80/pip/imdb_bidirectional_lstm/r0 holds a run that was not imported"
    ]
    assert _files(folder) == before


def test_no_figures_without_their_licence(tmp_path):
    source = _source(tmp_path, imdb_bidirectional_lstm_tensorflow=_log())
    (source / "LICENSE").unlink()
    with pytest.raises(DeclaredError, match=r"LICENSE: can't be read .* licence: put it there"):
        import_logs(source, LAYOUT, tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
    shutil.rmtree(source)
    with pytest.raises(DeclaredError, match="no such folder"):
        import_logs(source, LAYOUT, tmp_path / "runs")


def test_each_layout_is_whole():
    assert "gce-2017-07" in list_layouts()
    for name in list_layouts():
        assert read_layout(name).campaign == name
        assert campaign_card(read_layout(name)).cells


@given(st.lists(st.floats(min_value=1e-9, max_value=1e9), min_size=4, max_size=4))
def test_any_number_survives_as_it_was_written(tmp_path_factory, seconds):
    folder = tmp_path_factory.mktemp("numbers")
    rows = [f"{epoch},{value:.17e},1.250000" for epoch, value in enumerate(seconds)]
    text = "epoch,elapsed,loss\r\n" + "\r\n".join(rows) + "\r\n"
    source = _source(folder, imdb_bidirectional_lstm_tensorflow=text)
    (run,) = list_run_folders(import_logs(source, LAYOUT, folder / "runs").folder)
    lines = (run / "epochs.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert lines == [row + "," * 8 for row in rows]
    assert [record.elapsed for record in read_run(run).epochs] == seconds
