"""Shows how far a campaign is: a bar on a terminal, a line a run elsewhere."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from types import TracebackType

    from rich.console import Console

    from launcher.jobs import Job
    from models.run import Manifest

_MINUTE = 60


def format_duration(seconds: float) -> str:
    """Return seconds as people say them: 40 s, 3 min, 2 h 5 min."""
    if seconds < 1.5 * _MINUTE:
        return f"{seconds:.0f} s"
    minutes = round(seconds / _MINUTE)
    if minutes < 2 * _MINUTE:
        return f"{minutes} min"
    return f"{minutes // _MINUTE} h {minutes % _MINUTE} min"


def describe_job(job: Job) -> str:
    """Return a job in words: mnist_mlp, pip, local-2, r0."""
    cell = job.cell
    return f"{cell.workload}, {cell.build}, {cell.instance}, {job.run_id}"


class ProgressView(AbstractContextManager["ProgressView"]):
    """A bar where the console is a terminal; else one line when a run ends."""

    def __init__(self, console: Console, total: int) -> None:
        """Show `total` runs on a console."""
        self._console = console
        self._total = total
        self._done = 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[remaining]}"),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("", total=total, remaining="")

    def __enter__(self) -> Self:
        """Start the bar."""
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the bar."""
        self._bar.stop()

    def start(self, job: Job, remaining_s: float | None) -> None:
        """Show which run is under way, and how long all the rest will take."""
        rest = f"about {format_duration(remaining_s)} left" if remaining_s is not None else ""
        self._bar.update(self._task, description=describe_job(job), remaining=rest)

    def end(self, job: Job, manifest: Manifest, seconds: float, remaining_s: float | None) -> None:
        """Show how a run ended."""
        self._done += 1
        self._bar.update(self._task, completed=self._done)
        status = manifest.status.value
        if manifest.status.value == "failed" or not self._console.is_terminal:
            why = f": {manifest.why}" if manifest.why else ""
            rest = f", about {format_duration(remaining_s)} left" if remaining_s else ""
            # Plain text: what a run says about itself is no markup.
            self._console.print(
                f"[{self._done}/{self._total}] {describe_job(job)}: "
                f"{status}{why} ({seconds:.1f} s{rest})",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )

    def add(self, count: int) -> None:
        """Add runs that are to be tried again."""
        self._total += count
        self._bar.update(self._task, total=self._total)
