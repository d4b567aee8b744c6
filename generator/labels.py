"""Names that readers see: of cells, instances, builds and workloads. One form on all pages."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pandas as pd

from catalog.entries import find_instance, read_builds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from generator.reading import Campaign

PREDICTED = " (predicted)"
"""What a label ends with whose cell's time is predicted from the first epochs of a run."""

_SIZE = re.compile(r"(\d+)\D*$")


def instance_sizes(campaign: Campaign) -> dict[str, int | None]:
    """Return each instance's vCPUs: the catalog's, the campaign's, else what a run of it used."""
    sizes: dict[str, int | None] = {}
    for instance in sorted({cell.instance for cell in campaign.card.cells}):
        entry = find_instance(instance) or campaign.card.instances.get(instance)
        if entry and isinstance(entry.vcpus, int):
            sizes[instance] = entry.vcpus
        else:
            used = [
                run.manifest.hardware.vcpus
                for run in campaign.runs
                if run.manifest.instance == instance and run.manifest.hardware.vcpus
            ]
            sizes[instance] = min(used) if used else None
    return sizes


def instance_devices(campaign: Campaign) -> dict[str, str]:
    """Return GPU or CPU for each instance: by a known accelerator, else by the runs' GPU."""
    devices = {}
    for instance in sorted({cell.instance for cell in campaign.card.cells}):
        entry = find_instance(instance) or campaign.card.instances.get(instance)
        seen = any(
            run.manifest.hardware.gpu for run in campaign.runs if run.manifest.instance == instance
        )
        has_gpu = bool(entry.accelerator) if entry else seen
        devices[instance] = "GPU" if has_gpu else "CPU"
    return devices


def instance_labels(sizes: Mapping[str, int | None], devices: Mapping[str, str]) -> dict[str, str]:
    """Return a label for each instance: GPU, or its size; its own name where that is not one."""
    labels = {}
    for instance, size in sizes.items():
        if devices[instance] == "GPU":
            labels[instance] = "GPU"
        elif size is None:
            labels[instance] = instance
        else:
            labels[instance] = "1 vCPU" if size == 1 else f"{size} vCPUs"
    return _tell_apart(labels)


def _tell_apart(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels that differ: those which two things share become their own names."""
    shared = Counter(labels.values())
    return {name: label if shared[label] == 1 else name for name, label in labels.items()}


def label_cells(cells: pd.DataFrame, campaign: Campaign) -> pd.DataFrame:
    """Return a cell table with the columns that charts and pages name cells by.

    Adds ``label`` (16 vCPUs, compiled), ``short_label`` (16, compiled),
    ``tiny_label`` (16), ``instance_label``,
    ``vcpus`` (0 where unknown), ``device`` (GPU, CPU) and ``compiled``; ``plain_label`` is the
    label without the mark of a predicted time.
    """
    sizes, devices = instance_sizes(campaign), instance_devices(campaign)
    names = instance_labels(sizes, devices)
    compiled = {name for name, build in read_builds().items() if build.compiled}
    compiled |= {name for name, build in campaign.card.builds.items() if build.compiled}
    builds_of: dict[str, set[str]] = {}
    for cell in campaign.card.cells:
        builds_of.setdefault(cell.instance, set()).add(cell.build)
    labels, plains, shorts, tinies = [], [], [], []
    for build, instance, predicted in zip(
        cells["build"], cells["instance"], cells["predicted"], strict=True
    ):
        end = PREDICTED if predicted else ""
        alone = devices[instance] == "GPU" and len(builds_of[instance]) == 1
        name, size = names[instance], sizes[instance]
        plains.append(name if alone else f"{name}, {build}")
        labels.append(plains[-1] + end)
        # A legend says what the number is; a point has room for the number alone.
        short = str(size) if size is not None and "vCPU" in name else name
        shorts.append((short if alone else f"{short}, {build}") + end)
        tinies.append(short + end)
    return cells.assign(
        label=labels,
        plain_label=plains,
        short_label=shorts,
        tiny_label=tinies,
        instance_label=[names[instance] for instance in cells["instance"]],
        vcpus=[sizes[instance] or 0 for instance in cells["instance"]],
        device=[devices[instance] for instance in cells["instance"]],
        compiled=[build in compiled for build in cells["build"]],
    )


def sort_by_size(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells as charts and tables order them: GPU first, then by size, then by build.

    ``pip`` comes before its variants, and compiled builds last: adjacent, from plain to tuned.
    """
    keys = pd.DataFrame(
        {
            "workload": cells["workload"],
            "device": cells["device"] == "CPU",
            "vcpus": cells["vcpus"],
            "instance": cells["instance"],
            "compiled": cells["compiled"],
            "build": cells["build"],
        }
    )
    return cells.loc[keys.sort_values(list(keys.columns), kind="stable").index].reset_index(
        drop=True
    )


def baseline_label(cells: pd.DataFrame) -> str:
    """Return the baseline in words, as in "relative to the GPU"; empty where there is none."""
    rows = cells[cells["is_baseline"]]
    if rows.empty:
        return ""
    label = str(rows.iloc[0]["label"])
    return f"the {label}" if label in ("GPU", f"GPU{PREDICTED}") else label
