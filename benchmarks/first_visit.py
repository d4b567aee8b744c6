"""How soon a first visitor on a phone can read the answer: the start page on a slow processor.

Chromium loads the start page from this machine, 390 pixels wide, with its processor slowed down
to a quarter; each load is a first visit, with an empty cache. The time is from the navigation's
start to the first frame in which the sentence `p.answer` is painted. No network is simulated:
what is transferred has a bound of its own, in tests/test_weight.py.

    python -m benchmarks.first_visit [--rounds 8] [--site-dir site] [--json]

Exit code 1 where the median is over 1.5 s; 2 where there is no site or no Chromium.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from generator.statistics import median, median_interval

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BOUND_S = 1.5
SLOW_DOWN = 4
WIDTH = 390
FEWEST = 6

# A frame's callback runs before it is painted; that of the next one, after. The style sheets
# stand before the body, and hold its first frame back: what has a height is shown as designed.
_WATCH = """
const look = () => requestAnimationFrame(() => {
  const answer = document.querySelector("p.answer");
  if (answer === null || answer.getBoundingClientRect().height === 0) {
    look();
  } else {
    requestAnimationFrame(() => { window.answerPainted = performance.now(); });
  }
});
look();
"""


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Say nothing: the terminal is for figures."""
        del arguments


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=8, help="first visits to measure (8)")
    parser.add_argument("--site-dir", type=Path, default=Path("site"), help="the site (site)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    arguments = parser.parse_args()
    if arguments.rounds < FEWEST:
        parser.error(f"--rounds: at least {FEWEST}, for an interval")
    if not (arguments.site_dir / "index.html").is_file():
        print(f"{arguments.site_dir}: no site here; build it with `make site`", file=sys.stderr)
        return 2
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("chromium is not installed: apt-get install chromium", file=sys.stderr)
        return 2
    times = measure(arguments.site_dir, chromium, arguments.rounds)
    typical = median(times)
    low, high = median_interval(times) or (min(times), max(times))
    if arguments.json:
        record = {"width": WIDTH, "cpu_slow_down": SLOW_DOWN, "answer_painted_s": times}
        record |= {"median": typical, "low": low, "high": high, "bound": BOUND_S}
        print(json.dumps(record))
    else:
        for number, seconds in enumerate(times, start=1):
            print(f"visit {number:2}: the answer is painted after {seconds:.2f} s")
        print(
            f"{len(times)} first visits, {SLOW_DOWN} × slower processor: median {typical:.2f} s "
            f"(95 % interval {low:.2f} to {high:.2f} s); the bound is {BOUND_S:g} s"
        )
    return 0 if typical <= BOUND_S else 1


def measure(site: Path, chromium: str, rounds: int) -> list[float]:
    """Return the seconds to the answer of each first visit.

    Args:
        site: a built site's folder.
        chromium: the browser's program.
        rounds: how many visits to make, after one that warms the machine's own cache.
    """
    from playwright.sync_api import sync_playwright

    handler = functools.partial(_Handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/index.html"
        with sync_playwright() as playwright:
            flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
            browser = playwright.chromium.launch(executable_path=chromium, args=flags)
            times = [_visit(browser, address) for _ in range(rounds + 1)][1:]
            browser.close()
        server.shutdown()
    return times


def _visit(browser: Browser, address: str) -> float:
    """Return the seconds until the answer is painted, in a context with nothing in its cache."""
    context = browser.new_context(viewport={"width": WIDTH, "height": 844})
    page = context.new_page()
    page.add_init_script(_WATCH)
    session = context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOW_DOWN})
    page.goto(address)
    page.wait_for_function("window.answerPainted !== undefined")
    seconds = float(page.evaluate("window.answerPainted")) / 1000
    context.close()
    return seconds


if __name__ == "__main__":
    sys.exit(main())
