"""The generator's command line: ``python -m generator site | serve``."""

from __future__ import annotations

import functools
import http.server
import time
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from catalog.claim import read_claim_files
from catalog.declared import DeclaredError, suggest
from catalog.entries import CATALOG
from catalog.price_book import SCENARIOS, read_price_file
from generator.pages import PageError, Site, write_pages
from generator.reading import list_hidden, read_campaigns
from generator.report import check_prices, choose_shown, make_report
from generator.site import SiteError, build_site, fingerprint, list_files, write_config

app = typer.Typer(
    help="Build the report from the runs at hand, and show it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

ROOT = Path(__file__).parents[1]
_BUILD = Path("build")


def _fail(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(2)


@app.command("site")
def site_command(
    *,
    runs: Annotated[
        list[Path] | None,
        typer.Option(help="Where campaigns are; of two with one name, the first counts."),
    ] = None,
    site_dir: Annotated[Path, typer.Option(help="Where the site is built.")] = Path("site"),
    campaign: Annotated[
        str, typer.Option(help="The campaign that the start page shows; the best where empty.")
    ] = "",
    prices: Annotated[
        str,
        typer.Option(
            help="Price anew by a file of prices, or a book of the catalog.", metavar="FILE"
        ),
    ] = "",
    scenario: Annotated[
        str,
        typer.Option(help=f"{', '.join(SCENARIOS)}; each campaign's own where empty."),
    ] = "",
    force: Annotated[bool, typer.Option(help="Build even where nothing has changed.")] = False,
) -> None:
    """Build the site. 0: built, or nothing has changed; 2: it can't be built."""
    folders = list(dict.fromkeys(runs or [Path("runs")]))
    begin = time.monotonic()
    inputs = [ROOT / "generator", ROOT / "catalog", ROOT / "models", ROOT / "site_src"]
    inputs += [ROOT / "mkdocs.yml", ROOT / "requirements" / "report.txt", *folders]
    settings = [str(site_dir.resolve()), campaign, prices, scenario, *map(str, folders)]
    if prices and Path(prices).is_file():
        inputs.append(Path(prices))
    if scenario and scenario not in SCENARIOS:
        _fail(f"SCENARIO={scenario}: {suggest(scenario, SCENARIOS)}")
    try:
        mark = fingerprint(list_files(inputs), settings, ROOT)
        stamp = _BUILD / "site.fingerprint"
        built = site_dir / "index.html"
        if not force and built.is_file() and stamp.is_file() and stamp.read_text() == mark:
            typer.echo(f"Report: {built} (nothing has changed)")
            return
        campaigns, unreadable = read_campaigns(folders)
        for name, first, hidden in list_hidden(folders):
            typer.echo(f"{name}: {first} counts, and hides {hidden}", err=True)
        claim_files = read_claim_files(CATALOG / "claims")
        offered = read_price_file(prices) if prices else None
        wanted = scenario or None
        reports = [
            make_report(item, claim_files, scenario=wanted, offered=offered) for item in campaigns
        ]
        check_prices(reports, offered, wanted)
        site = Site(reports, choose_shown(reports, campaign), unreadable, chosen=bool(campaign))
        docs = _BUILD / "docs"
        nav = write_pages(docs, ROOT / "site_src", site)
        write_config(ROOT / "mkdocs.yml", _BUILD / "mkdocs.yml", docs, nav)
        build_site(_BUILD / "mkdocs.yml", site_dir)
    except (DeclaredError, PageError, SiteError, ValueError) as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}")
    stamp.write_text(mark)
    for item in unreadable:
        typer.echo(f"{item.file}: {item.reason}; {item.mend}", err=True)
    for report in reports:
        out = sum(not item.flagged for item in report.exclusions)
        note = f", {out} left out (see its data quality page)" if out else ""
        page = site_dir / "campaigns" / report.name / "index.html"
        typer.echo(f"{report.name}: {len(report.campaign.figure_runs)} runs{note}, {page}")
    typer.echo(f"Report: {built} (built in {time.monotonic() - begin:.0f} s)")


@app.command("serve")
def serve_command(
    *,
    site_dir: Annotated[Path, typer.Option(help="Where the site is.")] = Path("site"),
    port: Annotated[int, typer.Option(help="Where to listen.", min=0, max=65535)] = 8000,
) -> None:
    """Show the site on this machine, until Ctrl-C."""
    if not (site_dir / "index.html").is_file():
        _fail(f"{site_dir}: no site here; build it with `make site`")
    handler = functools.partial(_QuietHandler, directory=str(site_dir))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        _fail(f"port {port}: {error.strerror}; choose another: make serve PORT=8001")
    with server:
        typer.echo(f"The report is at http://localhost:{server.server_port}/ (Ctrl-C stops)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("")


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Say nothing about requests: the terminal is the reader's."""
        del arguments


if __name__ == "__main__":
    app(prog_name="python -m generator")
