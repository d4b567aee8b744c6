"""Writes the published data: tables as CSV, claims as JSON, logs as they were read."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pandas as pd

from generator.measures import CELL_COLUMNS
from models.run import LOG_NAME, MANIFEST_NAME, sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from generator.claims import Judgement
    from generator.comparisons import Comparison
    from generator.reading import Campaign, Exclusion


def format_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV: full precision, empty where unknown, true and false in words."""
    text = table.copy()
    for name in text.columns:
        if text[name].map(lambda value: isinstance(value, bool)).any():
            text[name] = text[name].map(lambda v: str(v).lower() if isinstance(v, bool) else v)
    return text.to_csv(index=False, lineterminator="\n")


def claims_frame(judgements: Iterable[Judgement]) -> pd.DataFrame:
    """Return claims as published: one row a claim, in the order of their ids."""
    rows = [
        {
            "id": item.claim.id,
            "verdict": item.verdict,
            "comparisons": len(item.comparisons),
            "hold": item.hold,
            "smallest": item.smallest,
            "largest": item.largest,
        }
        for item in sorted(judgements, key=lambda item: item.claim.id)
    ]
    columns = ["id", "verdict", "comparisons", "hold", "smallest", "largest"]
    return pd.DataFrame(rows, columns=columns)


def excluded_frame(exclusions: Iterable[Exclusion]) -> pd.DataFrame:
    """Return what gave no figure or was flagged: file, line (empty: all of it), reason, mend."""
    rows = [
        {
            "file": item.file,
            "line": item.line or None,
            "reason": f"flagged: {item.reason}" if item.flagged else item.reason,
            "mend": item.mend,
        }
        for item in sorted(exclusions)
    ]
    frame = pd.DataFrame(rows, columns=["file", "line", "reason", "mend"])
    frame["line"] = frame["line"].astype("Int64")
    return frame


def claims_json(judgements: Iterable[Judgement], sources: dict[str, dict[str, str]]) -> str:
    """Return claims with the rows behind each, as JSON.

    Args:
        judgements: the claims, judged.
        sources: who made each claim, by its id.
    """
    records = [
        {
            "id": item.claim.id,
            "sentence": item.claim.sentence,
            "source": sources[item.claim.id],
            "verdict": item.verdict,
            "comparisons": len(item.comparisons),
            "hold": item.hold,
            "smallest": item.smallest,
            "largest": item.largest,
            "rules": [rule.model_dump(exclude_defaults=True) for rule in item.claim.rules],
            "rows": [_comparison_record(comparison) for comparison in item.comparisons],
        }
        for item in sorted(judgements, key=lambda item: item.claim.id)
    ]
    return _to_json({"claims": records})


def _comparison_record(comparison: Comparison) -> dict[str, Any]:
    return {
        "workload": comparison.workload,
        "of": {"build": comparison.of[1], "instance": comparison.of[2]},
        "to": {"build": comparison.to[1], "instance": comparison.to[2]},
        "figure": comparison.figure,
        "low": comparison.low,
        "high": comparison.high,
        "holds": comparison.holds,
        "predicted": comparison.predicted,
    }


def _to_json(record: object) -> str:
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_campaign_data(
    folder: Path,
    campaign: Campaign,
    cells: pd.DataFrame,
    runs: pd.DataFrame,
    judgements: Sequence[Judgement],
    sources: dict[str, dict[str, str]],
    exclusions: Sequence[Exclusion],
) -> None:
    """Write a campaign's published data into its folder, ``data/CAMPAIGN/``.

    The logs and manifests of its runs lie below it, under ``runs/``, byte for byte; so does
    the licence that imported figures come with.
    """
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "cells.csv": format_csv(cells[list(CELL_COLUMNS)]),
        "runs.csv": format_csv(runs),
        "claims.csv": format_csv(claims_frame(judgements)),
        "claims.json": claims_json(judgements, sources),
        "excluded.csv": format_csv(excluded_frame(exclusions)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for run in campaign.runs:
        target = folder / "runs" / run.folder.relative_to(campaign.folder)
        target.mkdir(parents=True, exist_ok=True)
        for name in (MANIFEST_NAME, LOG_NAME):
            if (run.folder / name).is_file():
                shutil.copyfile(run.folder / name, target / name)
    if (campaign.folder / "LICENSE").is_file():
        shutil.copyfile(campaign.folder / "LICENSE", folder / "LICENSE.txt")


def write_index(data: Path, campaigns: Sequence[Campaign], shown: str) -> None:
    """Write ``index.json``: the campaigns, and each published file with its SHA-256.

    Args:
        data: the site's ``data/``, all else in it written.
        campaigns: the campaigns, by name.
        shown: the one that the start page shows; empty where there is none.
    """
    record = {
        "schema_version": 1,
        "shown": shown,
        "campaigns": [
            {
                "name": campaign.name,
                "title": campaign.card.title,
                "date": campaign.card.date,
                "profile": campaign.card.profile,
                "runs": len(campaign.figure_runs),
                "files": {
                    path.relative_to(data).as_posix(): sha256_of(path.read_bytes())
                    for path in sorted((data / campaign.name).rglob("*"))
                    if path.is_file()
                },
            }
            for campaign in campaigns
        ],
    }
    data.mkdir(parents=True, exist_ok=True)
    (data / "index.json").write_text(_to_json(record), encoding="utf-8", newline="\n")
