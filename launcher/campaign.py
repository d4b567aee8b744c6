"""A campaign on disk: its lock, its card, and the runs that lie in it."""

from __future__ import annotations

import datetime as dt
from contextlib import contextmanager
from typing import TYPE_CHECKING

import filelock

from catalog.declared import DeclaredError
from catalog.price_book import read_price_book
from launcher.jobs import Found
from models.run import (
    CAMPAIGN_NAME,
    CampaignCard,
    CellName,
    RunFormatError,
    list_run_folders,
    read_campaign,
    read_manifest,
    read_run,
    write_campaign,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from launcher.plan import ResolvedPlan
    from models.run import Scenario

_LOCK = ".lock"
_STALE = ".stale"


def campaign_lock(folder: Path) -> Path:
    """Return the file that a launcher locks while it trains a campaign (flock(2))."""
    return folder / _LOCK


@contextmanager
def lock_campaign(folder: Path, say: Callable[[str], None], *, wait: bool = True) -> Iterator[None]:
    """Hold a campaign: two launchers beside each other would time each other.

    Args:
        folder: the campaign's.
        say: told once, where another one has to be waited for.
        wait: whether to wait.

    Raises:
        DeclaredError: where another launcher holds it and there is no waiting.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(campaign_lock(folder))
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        reason = "another launcher is training this campaign"
        if not wait:
            raise DeclaredError(folder, None, reason, "wait until it has ended") from None
        say(f"{folder}: {reason}; waiting until it has ended ...")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def find_runs(folder: Path) -> tuple[list[Found], list[Path]]:
    """Return a campaign's runs, and the folders whose manifests can't be read, both sorted."""
    found, unreadable = [], []
    for run_folder in list_run_folders(folder):
        try:
            manifest = read_manifest(run_folder)
        except RunFormatError:
            unreadable.append(run_folder)
            continue
        try:
            read_run(run_folder)
        except RunFormatError:
            found.append(Found(run_folder, manifest, is_sound=False))
        else:
            found.append(Found(run_folder, manifest, is_sound=True))
    return found, unreadable


def set_aside(folder: Path, stale: Sequence[Found]) -> None:
    """Move runs that are no longer what the plan asks for below ``.stale/``: none is deleted."""
    for item in stale:
        target = folder / _STALE / item.folder.relative_to(folder)
        number = 1
        while target.exists():
            number += 1
            target = target.with_name(f"{item.folder.name}.{number}")
        target.parent.mkdir(parents=True, exist_ok=True)
        item.folder.rename(target)


def update_card(folder: Path, plan: ResolvedPlan, found: Sequence[Found]) -> None:
    """Write ``campaign.json``, where it changes: the cells of the plan, and what they cost.

    Cells that were selected earlier stay while they are in the plan or have runs: to narrow a
    plan for once takes nothing out of the report.

    Raises:
        DeclaredError: where the folder holds another's campaign.
    """
    earlier: CampaignCard | None = None
    try:
        earlier = read_campaign(folder)
    except RunFormatError as error:
        if (folder / CAMPAIGN_NAME).exists():
            raise DeclaredError(
                error.file, error.line, error.reason, "restore it, or remove it: it is made anew"
            ) from None
    if earlier and earlier.source:
        reason = f"{plan.campaign!r} holds runs of {earlier.source.author}"
        raise DeclaredError(folder, None, reason, "give the plan's campaign another name")
    with_runs = {
        CellName(
            workload=item.manifest.workload.name,
            build=item.manifest.build,
            instance=item.manifest.instance,
        )
        for item in found
    }
    kept = {cell for cell in earlier.cells if cell in plan.cells} if earlier else set()
    cells = sorted(
        {*plan.selected, *with_runs, *kept}, key=lambda c: (c.workload, c.build, c.instance)
    )
    dates = [item.manifest.started_at[:10] for item in found if item.manifest.started_at]
    card = CampaignCard(
        campaign=plan.campaign,
        title=plan.title,
        date=min(dates, default=dt.datetime.now(dt.UTC).date().isoformat()),
        profile=plan.profile,
        repeats=plan.repeats,
        cells=tuple(cells),
        baseline=plan.baseline,
        scenario=_choose_scenario(plan),
        price_book=plan.price_book,
        usd_per_hour=plan.usd_per_hour,
        notes=plan.notes,
    )
    if card != earlier:
        write_campaign(folder, card)


def _choose_scenario(plan: ResolvedPlan) -> Scenario:
    """Return whose prices a plan's figures have: the book's first kind, or the user's own."""
    book = read_price_book(plan.price_book) if plan.price_book else None
    if book and book.scenarios:
        return book.scenarios[0]
    return "own" if plan.usd_per_hour else "as-published"
