"""The run format on disk: atomic, checked, and telling what is wrong where."""

import json
import os

import pytest

from models.run import (
    EPOCH_COLUMNS,
    EpochRecord,
    EpochWriter,
    RunFormatError,
    hash_parameters,
    read_campaign,
    read_manifest,
    read_run,
    write_atomically,
    write_manifest,
)
from tests.conftest import write_card, write_run

CELL = ("mnist_mlp", "pip", "local-1")


def test_the_columns_are_those_of_the_2017_logs_and_ours():
    assert ",".join(EPOCH_COLUMNS) == (
        "epoch,elapsed,loss,acc,val_loss,val_acc,train_s,val_s,cpu_s,other_cpu_s,started_at"
    )


def test_a_line_is_synced_when_its_epoch_ends(tmp_path, monkeypatch):
    synced = []

    def fsync(number):
        synced.append((tmp_path / "epochs.csv").read_text())

    monkeypatch.setattr(os, "fsync", fsync)
    with EpochWriter(tmp_path) as writer:
        writer.write(EpochRecord(0, 1.25, loss=0.5))
        writer.write(EpochRecord(1, 1.5, loss=float("nan")))
    assert [text.count("\n") for text in synced] == [1, 2, 3]
    assert synced[-1].splitlines()[1] == "0,1.25,0.5,,,,,,,,"


def test_a_log_is_never_overwritten(tmp_path):
    with EpochWriter(tmp_path):
        pass
    with pytest.raises(FileExistsError):
        EpochWriter(tmp_path)


def test_a_manifest_survives_the_disk(tmp_path):
    folder = write_run(tmp_path / "c", CELL, [1.0, 2.0])
    manifest = read_manifest(folder)
    write_manifest(folder, manifest)
    assert read_manifest(folder) == manifest
    assert read_run(folder).manifest == manifest


def test_a_write_that_fails_leaves_the_old_text(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    write_atomically(path, "old")

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_order_of_parameters_is_no_difference():
    assert hash_parameters({"a": 1, "b": [2]}) == hash_parameters({"b": [2], "a": 1})
    assert hash_parameters({"a": 1}) != hash_parameters({"a": 2})


def test_a_fault_has_its_line(tmp_path):
    folder = write_run(tmp_path / "c", CELL, [1.0])
    text = (folder / "run.json").read_text().replace('"profile": "full"', '"profile": "fast"')
    (folder / "run.json").write_text(text)
    line = text[: text.index('"profile"')].count("\n") + 1
    with pytest.raises(RunFormatError, match=rf"run\.json:{line}: profile: Input should be"):
        read_manifest(folder)


def test_a_campaign_lies_in_its_folder(tmp_path):
    write_card(tmp_path / "one", [CELL])
    card = json.loads((tmp_path / "one" / "campaign.json").read_text())
    (tmp_path / "one" / "campaign.json").write_text(json.dumps(card | {"campaign": "two"}))
    with pytest.raises(RunFormatError, match="it describes 'two' but lies in 'one'"):
        read_campaign(tmp_path / "one")


@pytest.mark.parametrize("name", ["", "..", "a/b", ".hidden", "a b", "ä", "x" * 101])
def test_a_name_is_a_folder_and_a_part_of_an_address(tmp_path, name):
    folder = write_run(tmp_path / "c", CELL, [1.0])
    manifest = read_manifest(folder)
    with pytest.raises(ValueError, match="run_id"):
        manifest.with_changes(run_id=name)
