"""What the tests of imports share: a small mapping, a log, and how to read what was written."""

import csv

from models.run import list_run_folders

HEAD = """campaign: theirs
title: Their machines
source: {title: Their post, author: Ada, url: "https://example.org/", licence: CC0}
"""
FILES = """files: [{path: "{instance}/{workload}_{build}.csv"}]
workloads: {mnist_mlp: , resnet: {epochs: 3, dataset: ImageNet}}
builds: {pip: , torch: {title: PyTorch, framework: PyTorch 2.9}}
instances: {big: {vcpus: 96, title: The big one}, small: n1-highcpu-8}
"""
LOG = "epoch,elapsed,loss\n0,3.5,1\n1,2.5,0.5\n2,2.25,0.25\n"


def seconds_of(report):
    """Return the seconds of each run's epochs as they are written, by its place."""
    found = {}
    for folder in list_run_folders(report.folder):
        with (folder / "epochs.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [int(row["epoch"]) for row in rows] == list(range(len(rows)))
        found["/".join(folder.parts[-4:])] = [row["elapsed"] for row in rows]
    return found
