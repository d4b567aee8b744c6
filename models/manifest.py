"""The records of a run and of a campaign, as ``run.json`` and ``campaign.json`` hold them."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

# A name becomes a folder and a part of an address: no separators, no dot at the start.
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=100)]

Profile = Literal["full", "quick", "smoke"]
Scenario = Literal["as-published", "spot", "on-demand", "own"]

WARMUP_EPOCHS: dict[str, int] = {"full": 0, "quick": 1, "smoke": 1}
"""Epochs at a run's start that no sum counts. In the short profiles TensorFlow traces its
graph in epoch 0, for seconds; in the full one that is part of the work, as it was in 2017."""


def utc_now() -> str:
    """Return the time as all records have it: UTC, ISO 8601, to the millisecond."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Status(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    COMPLETE = "complete"
    PREEMPTED = "preempted"
    FAILED = "failed"


class _Part(BaseModel):
    """A part of a manifest: an unknown field is an error, not a silent loss."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WorkloadUsed(_Part):
    """The workload as it ran; ``sha256`` is that of the parameters' canonical JSON."""

    name: Name
    parameters: dict[str, Any] = {}
    sha256: str | None = None


class DatasetUsed(_Part):
    """The data set as it was fed; ``kind`` says whether it is the real one."""

    name: str
    kind: Literal["real", "substitute", "synthetic", "unknown"] = "unknown"
    sha256: str | None = None
    note: str = ""


class Software(_Part):
    """What the run ran in. ``runner`` is ``host`` or the container engine's name.

    ``framework`` is what trained where it wasn't TensorFlow, with its version.
    ``python_build`` tells builds of one Python version apart, whose speeds differ: its date and
    compiler.
    """

    tensorflow: str | None = None
    keras: str | None = None
    framework: str | None = None
    python: str | None = None
    python_build: str | None = None
    wheel: str | None = None
    wheel_sha256: str | None = None
    runner: str = "unknown"
    engine_version: str | None = None
    image_digest: str | None = None

    def find_difference(self, other: Software) -> str:
        """Return in what two runs differ that are to be compared; empty where in nothing.

        As in ``Keras 2.14.0 and 3.15.1``. What is unknown is no difference, and the wheel is what
        builds are compared for.
        """
        pairs = (
            ("TensorFlow", self.tensorflow, other.tensorflow),
            ("Keras", self.keras, other.keras),
            ("Python", self.python, other.python),
            ("Python built", self.python_build, other.python_build),
            ("made", self._place, other._place),
        )
        differing = (
            f"{name} {mine} and {theirs}"
            for name, mine, theirs in pairs
            if mine != theirs and None not in (mine, theirs)
        )
        return next(differing, "")

    @property
    def _place(self) -> str | None:
        known = {"unknown": None, "host": "on the host"}
        return known.get(self.runner, "in a container")


class Hardware(_Part):
    """What the run ran on. ``memory_bytes`` is the machine's; ``vcpus`` those that were used.

    ``gpu`` is the GPU that was used; in a run that has not begun, the one that it is to use.
    """

    cpu_model: str | None = None
    cpu_flags: tuple[str, ...] = ()
    vcpus: int | None = None
    memory_bytes: int | None = None
    gpu: str | None = None


class Source(_Part):
    """Where a figure that is not ours comes from."""

    title: str
    author: str
    date: str
    url: str
    repository: str = ""
    commit: str = ""
    licence: str = ""
    notice: str = ""
    path: str = ""
    sha256: str = ""


class WallSeconds(_Part):
    """Wall seconds of a run's three stages: until the first epoch, the epochs, and after."""

    setup: float | None = None
    training: float | None = None
    teardown: float | None = None


class Segment(_Part):
    """A stretch of a run between an interruption and the next: where and when it began."""

    started_at: str
    first_epoch: int


class Manifest(_Part):
    """``run.json``: everything about a run but its epochs. Dates are UTC, ISO 8601.

    ``planned_epochs`` are those of the workload's profile; ``budget_epochs`` says that the run
    was to stop after fewer, so that its total is to be predicted.
    """

    schema_version: Literal[1] = 1
    run_id: Name
    campaign: Name
    workload: WorkloadUsed
    profile: Profile
    build: Name
    instance: Name
    repeat: int = Field(default=0, ge=0)
    status: Status
    why: str = ""
    output_tail: tuple[str, ...] = ()
    seed: int | None = None
    planned_epochs: int | None = Field(default=None, ge=1)
    budget_epochs: int | None = Field(default=None, ge=1)
    warmup_epochs: int = Field(default=0, ge=0)
    steps_per_epoch: int | None = Field(default=None, ge=1)
    jit_compile: bool | None = None
    environment: dict[str, str] = {}
    data_mode: Literal["real", "auto", "synthetic"] | None = None
    dataset: DatasetUsed | None = None
    software: Software = Software()
    hardware: Hardware = Hardware()
    git_commit: str | None = None
    git_dirty: bool | None = None
    started_at: str | None = None
    ended_at: str | None = None
    wall_s: WallSeconds = WallSeconds()
    segments: tuple[Segment, ...] = ()
    epochs_sha256: str | None = None
    source: Source | None = None

    def with_changes(self, **changes: Any) -> Self:  # noqa: ANN401 (any field of a manifest)
        """Return a copy with the named fields changed, checked like a new one."""
        return type(self).model_validate(self.model_dump() | changes)


class CellName(_Part):
    """A cell of the plan: what a bar of a chart shows."""

    workload: Name
    build: Name
    instance: Name


class Baseline(_Part):
    """The build and instance that each workload's ratios are taken against."""

    build: Name
    instance: Name


class InstanceCard(_Part):
    """What is known about an instance that the catalog doesn't have."""

    title: str = ""
    vcpus: int | None = Field(default=None, ge=1)
    memory_gib: float | None = Field(default=None, gt=0)
    accelerator: str | None = None


class BuildCard(_Part):
    """What is known about a build that the catalog doesn't have."""

    title: str = ""
    compiled: bool = False
    framework: str | None = None


class CampaignCard(_Part):
    """``campaign.json``: what a campaign was to run, against what, at whose prices.

    ``usd_per_hour`` holds prices that the plan itself gives, in USD per hour by instance;
    ``price_book`` names a file of the catalog. ``notes`` are what a reader must know before the
    figures, a sentence each. ``instances`` and ``builds`` describe those that
    the catalog doesn't have. ``source`` is that of imported logs; its ``sha256`` is that of the
    list of files (SHA-256, two spaces, path), sorted, a line each.
    """

    schema_version: Literal[1] = 1
    campaign: Name
    title: str
    date: str | None = None
    profile: Profile
    repeats: int = Field(default=1, ge=1)
    cells: tuple[CellName, ...]
    baseline: Baseline | None = None
    scenario: Scenario = "as-published"
    price_book: Name | None = None
    usd_per_hour: dict[Name, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = {}
    instances: dict[Name, InstanceCard] = {}
    builds: dict[Name, BuildCard] = {}
    notes: tuple[str, ...] = ()
    source: Source | None = None
