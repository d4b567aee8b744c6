"""Stands in for TensorFlow in tests: honours the trainer's contract, and breaks it on demand.

TOLD, a file of JSON beside the runs folder, maps "workload/build/instance/run_id" to what the
run does: fail, mute (exit 0 without a word), die (kill itself), hang (after one epoch).
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

from models.parent import end_with_launcher
from models.run import (
    EpochRecord,
    EpochWriter,
    Status,
    WallSeconds,
    read_manifest,
    sha256_of,
    write_manifest,
)


def main():
    end_with_launcher()
    folder = Path(sys.argv[1])
    told = json.loads((folder.parents[5] / "told.json").read_text())
    manifest = read_manifest(folder)
    name = f"{manifest.workload.name}/{manifest.build}/{manifest.instance}/{manifest.run_id}"
    what = told.get(name, "train")
    for variable, value in manifest.environment.items():
        assert os.environ[variable] == value
    assert "SECRET" not in os.environ

    def stop(number, frame):
        del number, frame
        write_manifest(folder, manifest.with_changes(status=Status.PREEMPTED, why="asked"))
        os._exit(3)

    signal.signal(signal.SIGTERM, stop)
    with EpochWriter(folder) as writer:
        for epoch in range(manifest.budget_epochs or manifest.planned_epochs):
            if epoch and what != "train":
                break
            writer.write(EpochRecord(epoch, 0.5 + epoch, loss=1.0))
    if what == "hang":
        time.sleep(60)
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "fail":
        print(f"in {Path.home()} of {Path.cwd()}: no memory")
        write_manifest(folder, manifest.with_changes(status=Status.FAILED, why="no memory"))
        sys.exit(1)
    if what == "mute":
        sys.exit(0)
    log = (folder / "epochs.csv").read_bytes()
    wall = WallSeconds(setup=1.0, training=2.0, teardown=0.1)
    done = {"status": Status.COMPLETE, "wall_s": wall.model_dump(), "epochs_sha256": sha256_of(log)}
    write_manifest(folder, manifest.with_changes(**done))


main()
