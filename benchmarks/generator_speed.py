"""How fast the generator reads and measures thousands of runs, beside a bare read of the files.

    python -m benchmarks.generator_speed [--runs 3000] [--json]

The peer parses each run.json with json and each epochs.csv with csv, and checks nothing. Both
read the same made-up campaign, in turns; the ratio says what checking and measuring cost.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
import time
from pathlib import Path

from generator.reading import Campaign, read_campaign_folder
from generator.report import make_report
from generator.statistics import median
from tests.conftest import write_card, write_run

_ROUNDS = 3
_CELLS = [
    (f"workload{number}", build, f"local-{size}")
    for number in range(10)
    for build in ("pip", "compiled")
    for size in (1, 2, 4, 8, 16)
]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3000, help="runs in the campaign (3000)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "made"
        repeats = max(1, arguments.runs // len(_CELLS))
        write_card(folder, _CELLS, baseline=("pip", "local-1"))
        for index, cell in enumerate(_CELLS):
            for repeat in range(repeats):
                # Each log its own: copies would be left out.
                seconds = [1 + index / 100 + repeat / 10_000 + epoch / 1e6 for epoch in range(20)]
                write_run(folder, cell, seconds, run_id=f"r{repeat}")
        count = len(_CELLS) * repeats
        pairs = [(time_of(read_bare, folder), time_of(read_all, folder)) for _ in range(_ROUNDS)]
    bare, ours = (median([pair[side] for pair in pairs]) for side in (0, 1))
    ratio = median([pair[1] / pair[0] for pair in pairs])
    if arguments.json:
        print(json.dumps({"runs": count, "bare_s": bare, "ours_s": ours, "ratio": ratio}))
    else:
        print(
            f"{count} runs: read, checked and measured in {ours:.1f} s, "
            f"{ratio:.1f} × a bare read of the files ({bare:.1f} s)"
        )
    return 0


def time_of(read: object, folder: Path) -> float:
    """Return the wall seconds of a reader on a folder."""
    start = time.perf_counter()
    read(folder)  # type: ignore[operator]
    return time.perf_counter() - start


def read_bare(folder: Path) -> None:
    """Parse every file, and do nothing with it."""
    for path in sorted(folder.glob("*/*/*/*/run.json")):
        json.loads(path.read_text(encoding="utf-8"))
        with (path.parent / "epochs.csv").open(encoding="utf-8") as file:
            list(csv.reader(file))


def read_all(folder: Path) -> None:
    """Read, check, measure and rank, as the report does."""
    campaign = read_campaign_folder(folder)
    if not isinstance(campaign, Campaign):
        raise TypeError("the made-up campaign can't be read")
    make_report(campaign, [])


if __name__ == "__main__":
    sys.exit(main())
