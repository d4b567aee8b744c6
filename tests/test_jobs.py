"""What is run, reused, set aside: pure, from the plan and the manifests that are there."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.entries import read_builds
from launcher.jobs import (
    Found,
    Job,
    estimate_remaining,
    next_run_id,
    schedule_jobs,
    seed_of,
)
from launcher.machines import Machine
from launcher.plan import ResolvedPlan
from launcher.workloads import KnownWorkload
from models.run import (
    Baseline,
    CellName,
    DatasetUsed,
    Hardware,
    Manifest,
    Software,
    Status,
    WorkloadUsed,
)

CELLS = tuple(
    CellName(workload=w, build=b, instance="local-2")
    for w in ("a", "b")
    for b in ("pip", "pip-xla")
)
WORKLOADS = {name: KnownWorkload(name, {"n": name}, name * 8, 3) for name in "ab"}
MACHINE = Machine(Software(tensorflow="2.0", keras="3.0", runner="host"), "A CPU")


def plan(repeats=2, selected=CELLS):
    baseline = Baseline(build="pip", instance="local-2")
    return ResolvedPlan("c", "C", "quick", repeats, CELLS, selected, baseline, {}, None)


def found(cell=CELLS[0], repeat=0, run_id="", *, sound=True, **changes):
    build = read_builds()[cell.build]
    fields = {
        "run_id": run_id or f"r{repeat}",
        "campaign": "c",
        "workload": WorkloadUsed(name=cell.workload, sha256=cell.workload * 8),
        "profile": "quick",
        "build": cell.build,
        "instance": cell.instance,
        "repeat": repeat,
        "status": Status.COMPLETE,
        "seed": seed_of(repeat),
        "jit_compile": build.jit_compile,
        "environment": build.environment,
        "data_mode": "auto",
        "dataset": DatasetUsed(name="x", kind="synthetic"),
        "hardware": Hardware(cpu_model="A CPU"),
        "software": Software(tensorflow="2.0", keras="3.0"),
    }
    manifest = Manifest(**(fields | changes))
    folder = Path("c") / cell.instance / cell.build / cell.workload / manifest.run_id
    return Found(folder, manifest, sound)


def schedule(items, the_plan=None, data="auto", machine=MACHINE):
    return schedule_jobs(
        the_plan or plan(),
        items,
        WORKLOADS,
        read_builds(),
        data,
        dict.fromkeys(read_builds(), machine),
    )


def names(jobs):
    return [(job.cell.workload, job.cell.build, job.run_id) for job in jobs]


def test_repeats_are_interleaved_there_and_back():
    assert names(schedule([]).jobs) == [
        ("a", "pip", "r0"),
        ("a", "pip-xla", "r0"),
        ("b", "pip", "r0"),
        ("b", "pip-xla", "r0"),
        ("b", "pip-xla", "r1"),
        ("b", "pip", "r1"),
        ("a", "pip-xla", "r1"),
        ("a", "pip", "r1"),
    ]


def test_a_linear_drift_hits_all_cells_alike():
    places = {}
    for index, job in enumerate(schedule([]).jobs):
        places.setdefault(job.cell, []).append(index)
    assert {sum(of_cell) for of_cell in places.values()} == {7}


def test_complete_runs_are_reused():
    result = schedule([found()])
    assert len(result.reused) == 1
    assert ("a", "pip", "r0") not in names(result.jobs)
    assert len(result.jobs) == 7


@pytest.mark.parametrize("status", [Status.FAILED, Status.PREEMPTED, Status.RUNNING])
def test_what_did_not_end_well_is_run_again_under_a_new_id(status):
    result = schedule([found(status=status)])
    assert ("a", "pip", "r0-2") in names(result.jobs)
    assert result.reused == result.stale == ()
    assert len(result.killed) == (status is Status.RUNNING)


def test_a_broken_log_is_run_again_and_left_for_the_report():
    result = schedule([found(sound=False)])
    assert ("a", "pip", "r0-2") in names(result.jobs)
    assert result.stale == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"workload": WorkloadUsed(name="a", sha256="0")},
        {"profile": "smoke"},
        {"seed": 1},
        {"jit_compile": True},
        {"environment": {"TF_ENABLE_ONEDNN_OPTS": "1"}},
        {"data_mode": "synthetic"},
        {"hardware": Hardware(cpu_model="Another CPU")},
        {"software": Software(tensorflow="1.9", keras="3.0")},
        {"software": Software(tensorflow="2.0", keras="2.9")},
    ],
)
def test_a_run_of_something_else_is_set_aside(changes):
    result = schedule([found(**changes)])
    assert [item.folder.name for item in result.stale] == ["r0"]
    assert result.reused == ()
    assert ("a", "pip", "r0") in names(result.jobs)


def test_what_is_unknown_is_no_difference():
    unknown = found(hardware=Hardware(), software=Software())
    assert schedule([unknown]).reused == (unknown,)
    assert len(schedule([found()], machine=Machine()).reused) == 1


@pytest.mark.parametrize(
    ("wanted", "made", "kind", "reused"),
    [
        ("auto", "auto", "synthetic", True),
        ("auto", "real", "real", True),
        ("real", "auto", "real", True),
        ("real", "auto", "synthetic", False),
        ("synthetic", "synthetic", "synthetic", True),
        ("synthetic", "auto", "synthetic", False),
    ],
)
def test_data_that_is_wanted(wanted, made, kind, reused):
    item = found(data_mode=made, dataset=DatasetUsed(name="x", kind=kind))
    assert bool(schedule([item], data=wanted).reused) is reused


def test_cells_that_are_not_selected_are_let_alone():
    stale = found(CELLS[3], seed=1)
    result = schedule([stale], plan(selected=CELLS[:1]))
    assert result.stale == ()
    assert names(result.jobs) == [("a", "pip", "r0"), ("a", "pip", "r1")]


@pytest.mark.parametrize(
    ("taken", "wanted"),
    [([], "r1"), (["r1"], "r1-2"), (["r1", "r1-4"], "r1-5"), (["r0", "r10", "x"], "r1")],
)
def test_the_next_id(taken, wanted):
    assert next_run_id(1, taken) == wanted


@given(st.sets(st.sampled_from(CELLS)), st.integers(1, 4))
def test_each_cell_is_run_as_often_as_planned(cells, repeats):
    items = [found(cell) for cell in sorted(cells, key=str)]
    result = schedule(items, plan(repeats))
    made = [(job.cell, job.repeat) for job in result.jobs]
    had = [(cell, 0) for cell in cells]
    assert sorted(made + had, key=str) == sorted(
        [(cell, repeat) for cell in CELLS for repeat in range(repeats)], key=str
    )


def test_what_remains_is_estimated_from_what_was_measured():
    jobs = [Job(CELLS[0], 1, "r1"), Job(CELLS[0], 2, "r2"), Job(CELLS[2], 0, "r0")]
    # a: (10 + 14) / 2 = 12 twice; b has no run: the mean of all, 12.
    assert estimate_remaining(jobs, {"a": [10.0, 14.0]}) == 36.0
    assert estimate_remaining(jobs, {"a": [10.0], "b": [1.0]}) == 21.0
    assert estimate_remaining(jobs, {}) is None
