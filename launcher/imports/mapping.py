"""How another benchmark's logs lie and what they say, as a declared mapping (YAML) tells.

A mapping names files by patterns of their paths, columns, units, and what each of their names
is here. Its fields are documented where they stand.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from catalog.declared import Declared, DeclaredError, DeclaredFile, suggest
from launcher.imports.patterns import PathPattern
from models.run import (
    EPOCH_COLUMNS,
    DatasetUsed,
    Name,
    Profile,
    Scenario,
)

MAPPINGS = Path(__file__).parents[1] / "mappings"

KEYS = ("workload", "build", "instance")
"""What tells a cell; a log must have each of them in its path, in a column, or declared."""


def _spell_out(value: object) -> object:
    """Return facts for a name alone, or for nothing at all."""
    if value is None:
        return {}
    return {"name": value} if isinstance(value, str) else value


def _name_data(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


class WorkloadFacts(Declared):
    """What is known about a workload beside its logs; a name alone is what it is called here.

    Attributes:
        name: what it is called here; as there where empty.
        epochs: how many each run has; else the parameters' ``epochs``, else unknown.
        dataset: its name, or its name and kind.
        parameters: model, batch size and so on, as a page shows them.
    """

    name: Name | None = None
    epochs: int | None = Field(default=None, ge=1)
    dataset: Annotated[DatasetUsed | None, BeforeValidator(_name_data)] = None
    parameters: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_parameters(self) -> Self:
        try:
            json.dumps(self.parameters, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(
                "parameters that can't be written down; use text and numbers, dates in quotes"
            ) from None
        return self

    @property
    def planned_epochs(self) -> int | None:
        """How many epochs each run has, where it is known."""
        known = self.epochs or self.parameters.get("epochs")
        return known if isinstance(known, int) else None


class BuildFacts(Declared):
    """What is known about a build; a name alone is what it is called here.

    Attributes:
        name: what it is called here; as there where empty.
        title: what a page calls it.
        compiled: whether it was compiled for the CPU at hand.
        framework: what trains, with its version, where it isn't TensorFlow.
        tensorflow: TensorFlow's version.
        keras: Keras' version.
    """

    name: Name | None = None
    title: str = ""
    compiled: bool = False
    framework: str | None = None
    tensorflow: str | None = None
    keras: str | None = None


class InstanceFacts(Declared):
    """What is known about an instance; a name alone is what it is called in the catalog.

    Attributes:
        name: what it is called here; as there where empty.
        title: what a page calls it.
        vcpus: the whole machine's; unknown where empty.
        memory_gib: the whole machine's.
        accelerator: its GPU.
    """

    name: Name | None = None
    title: str = ""
    vcpus: int | None = Field(default=None, ge=1)
    memory_gib: float | None = Field(default=None, gt=0)
    accelerator: str | None = None


class TimeFormat(Declared):
    """How seconds are written: in which unit, and whether from the run's start."""

    unit: Literal["s", "ms", "min", "h", "mm:ss", "h:mm:ss"] = "s"
    cumulative: bool = False


class LogFormat(Declared):
    """How a log is written.

    Attributes:
        delimiter: between fields.
        decimal: the decimal sign.
        header: the columns' names, where the file has no line of them.
        columns: ours: theirs. A column that isn't named here is taken where it has our name.
        time: of ``elapsed``; the unit is that of the other seconds, too.
        first_epoch: what the first epoch's number is.
        number_rows: there are no epoch numbers: rows are in the order of epochs.
        accuracy: as a share (0.98), or in per cent (98).
    """

    delimiter: str = Field(default=",", min_length=1, max_length=1)
    decimal: Literal[".", ","] = "."
    header: tuple[str, ...] = ()
    columns: dict[str, str] = Field(default_factory=dict)
    time: TimeFormat = TimeFormat()
    first_epoch: Literal[0, 1] = 0
    number_rows: bool = False
    accuracy: Literal["share", "percent"] = "share"


class LogFiles(Declared):
    """Some of the files: where they lie, and what they are logs of.

    Attributes:
        path: a pattern below the source's folder, with fields: ``{workload}``, ``{build}``,
            ``{instance}``, ``{run}`` (which repeat), and ``{*}`` for any text of one folder's
            or file's name.
        workload: for all of these files; and so on.
        fields: which column tells the workload, build, instance or run of a row: such a file
            holds the logs of many runs, one row an epoch.
        format: how they are written, where it isn't as the mapping says for all.
    """

    path: str
    workload: str | None = None
    build: str | None = None
    instance: str | None = None
    fields: dict[Literal["workload", "build", "instance", "run"], str] = Field(default_factory=dict)
    format: LogFormat | None = None

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        pattern = PathPattern(self.path)
        for key in KEYS:
            told = [key in pattern.fields, getattr(self, key) is not None, key in self.fields]
            if not any(told):
                raise ValueError(
                    f"{self.path}: nothing tells the {key}; put {{{key}}} into the path, or add "
                    f"{key}: …, or its column under fields:"
                )
            if sum(told) > 1:
                raise ValueError(f"{self.path}: the {key} is told twice; keep one of them")
        return self

    @property
    def constants(self) -> dict[str, str]:
        """What is declared for all of these files, by key, as they name it."""
        return {key: value for key in KEYS if (value := getattr(self, key)) is not None}


class Expected(Declared):
    """Cells that the campaign was to have, whether or not there are logs of them."""

    build: Name
    instances: tuple[Name, ...]
    workloads: tuple[Name, ...] = ()


class Place(Declared):
    """The build and instance that ratios are taken against, by their names here."""

    build: Name
    instance: Name


class SourceFields(Declared):
    """Where the logs come from; a run's own ``Source`` adds its file and that file's hash."""

    title: str
    author: str
    date: str = ""
    url: str = ""
    repository: str = ""
    commit: str = ""
    licence: str = ""
    notice: str = ""


class Mapping(Declared):
    """How another benchmark's logs lie, what they are logs of, and where they come from.

    Attributes:
        campaign: the name of the campaign that they become.
        title: what a page calls it.
        date: of the measurements.
        profile: ``full`` where they are trainings of all epochs.
        baseline: what ratios are taken against.
        scenario: whose prices the figures have.
        price_book: one of the catalog's.
        usd_per_hour: prices in USD per hour by instance, where no price book has them.
        licence_file: a file of the source that is kept beside the figures.
        source: who measured, where it is published, under which licence.
        files: where the logs lie. A file that several patterns fit must be told apart by names.
        not_logs: patterns of files that are no logs, and aren't listed as left out; one without
            a slash is that of a file's name, in any folder.
        format: how the logs are written.
        workloads: their names; a name that isn't declared, here or in the catalog, is unknown.
        builds: likewise.
        instances: likewise.
        expected: the cells that were to be measured; those found where it is empty.
    """

    campaign: Name
    title: str
    date: dt.date | None = None
    profile: Profile = "full"
    baseline: Place | None = None
    scenario: Scenario = "as-published"
    price_book: str | None = None
    usd_per_hour: dict[Name, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict
    )
    licence_file: str = ""
    source: SourceFields
    files: tuple[LogFiles, ...] = Field(min_length=1)
    not_logs: tuple[str, ...] = ()
    format: LogFormat = LogFormat()
    workloads: Annotated[
        dict[str, Annotated[WorkloadFacts, BeforeValidator(_spell_out)]],
        BeforeValidator(_spell_out),
    ] = Field(default_factory=dict)
    builds: Annotated[
        dict[str, Annotated[BuildFacts, BeforeValidator(_spell_out)]], BeforeValidator(_spell_out)
    ] = Field(default_factory=dict)
    instances: Annotated[
        dict[str, Annotated[InstanceFacts, BeforeValidator(_spell_out)]],
        BeforeValidator(_spell_out),
    ] = Field(default_factory=dict)
    expected: tuple[Expected, ...] = ()


def list_mappings(folder: Path = MAPPINGS) -> list[str]:
    """Return the names of the mappings that come with the project, sorted."""
    return sorted(path.stem for path in folder.glob("*.yml"))


def read_mapping(name: str) -> Mapping:
    """Return the mapping of a user's file, or one of the project's by its name.

    Raises:
        DeclaredError: where there is neither, or for a fault in the file.
    """
    known = list_mappings()
    path = MAPPINGS / f"{name}.yml" if name in known else Path(name)
    if not path.is_file() and "/" not in name and not name.endswith((".yml", ".yaml")):
        raise DeclaredError(
            path, None, "no such mapping", f"name a file, or {suggest(name, known)}"
        )
    file = DeclaredFile(path)
    mapping = file.check(Mapping)
    _check_columns(file, mapping)
    return mapping


def _check_columns(file: DeclaredFile, mapping: Mapping) -> None:
    formats: list[tuple[tuple[int | str, ...], LogFormat]] = [(("format",), mapping.format)]
    formats += [
        (("files", index, "format"), entry.format)
        for index, entry in enumerate(mapping.files)
        if entry.format
    ]
    for place, known in formats:
        for column in known.columns:
            if column not in EPOCH_COLUMNS:
                reason = f"{column!r} is no column of the run format (columns are ours: theirs)"
                raise file.fault(
                    (*place, "columns", column), reason, suggest(column, EPOCH_COLUMNS)
                )
        if known.number_rows and "epoch" in known.columns:
            reason = "rows are numbered, and an epoch column is named"
            raise file.fault((*place, "number_rows"), reason, "keep one of them")
