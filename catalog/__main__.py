"""The catalog's command line: ``python -m catalog skypilot | prices``."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from pydantic import ValidationError

from catalog.declared import DeclaredError
from catalog.price_book import BOOKS, Billing, PriceBook, Quoted, list_price_books, read_price_book
from catalog.skypilot import SOURCE, SkypilotImport, format_book, import_skypilot

app = typer.Typer(
    help="Take prices over into the catalog, and list its price books.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

_WRONG_INPUT = 2
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def _line(text: object) -> str:
    """Return a text as one line that can be printed, whatever a file's name has in it."""
    return " ".join(str(text).encode("utf-8", "backslashreplace").decode().splitlines())


def _fail(message: object) -> NoReturn:
    typer.echo(_line(message), err=True)
    raise typer.Exit(_WRONG_INPUT)


def _read_date(text: str) -> dt.date:
    if not text:
        return dt.datetime.now(dt.UTC).date()
    try:
        if _DATE.fullmatch(text):
            return dt.date.fromisoformat(text)
    except ValueError:
        pass
    _fail(f"--date {text}: no such day; give it as YYYY-MM-DD")


def _read_billing(text: str) -> Billing | None:
    if not text:
        return None
    unit, _, minimum = text.partition("/")
    try:
        return Billing(unit_s=float(unit), minimum_s=float(minimum or 0))
    except (ValueError, ValidationError):
        _fail(f"--billing {text}: no rule; give seconds as UNIT/MINIMUM, such as 1/60")


def _choose_place(book_id: str, out: Path | None) -> Path:
    """Return where a book belongs; fail where the catalog could not find it there."""
    if not _ID.fullmatch(book_id):
        _fail(f"--id {book_id}: no name for a file; use letters, digits, dots, - and _")
    place = out or BOOKS / f"{book_id}.yml"
    if place.resolve().parent == BOOKS.resolve() and place.name != f"{book_id}.yml":
        _fail(f"{place}: its book is {book_id!r}; name it {book_id}.yml, or give --id")
    return place


def _write(path: Path, content: bytes, *, force: bool) -> bool:
    """Write a file at once; return whether it has changed. Fail before a different one."""
    if path.exists():
        if path.read_bytes() == content:
            return False
        if not force:
            _fail(f"{path}: there is a different file; overwrite it with --force")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp makes a file that only its owner can read; data is for all to read.
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return True


@app.command("skypilot")
def skypilot_command(
    file: Annotated[Path, typer.Argument(help="SkyPilot's vms.csv.")],
    *,
    provider: Annotated[str, typer.Option(help="Whose prices they are, such as gce.")] = "",
    region: Annotated[str, typer.Option(help="Which of its regions.")] = "",
    zone: Annotated[str, typer.Option(help="One zone; of several the cheapest.")] = "",
    instances: Annotated[
        str,
        typer.Option(help="Which, with commas; * for all, those of the catalog where empty."),
    ] = "",
    book_id: Annotated[
        str, typer.Option("--id", help="The book's name; PROVIDER-REGION-DATE where empty.")
    ] = "",
    title: Annotated[str, typer.Option(help="What pages call it.")] = "",
    date: Annotated[
        str, typer.Option(help="The day that the prices are of; today where empty.")
    ] = "",
    billing: Annotated[
        str, typer.Option(help="Billed by UNIT/MINIMUM seconds, such as 1/60; unknown where empty.")
    ] = "",
    source: Annotated[str, typer.Option(help="Where the file is from.")] = SOURCE,
    out: Annotated[
        Path | None,
        typer.Option(help="Where the book goes; into the catalog if not given.", metavar="FILE"),
    ] = None,
    force: Annotated[bool, typer.Option(help="Overwrite a different book.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take prices over into a price book. 0: done, remarks or not; 2: wrong input."""
    if not provider:
        _fail("--provider is missing; say whose prices they are, such as --provider gce")
    day, rule = _read_date(date), _read_billing(billing)
    try:
        result = import_skypilot(
            file,
            region=region,
            date=day,
            provider=provider,
            zone=zone or None,
            instances=[name.strip() for name in instances.split(",") if name.strip()],
            book_id=book_id or f"{provider}-{region}-{day}",
            title=title or f"{provider} {region}, {day}",
            billing=rule,
            source=source,
        )
        if not result.book.prices:
            _fail(f"{file}: {_explain_nothing(result)}")
        place = _choose_place(result.book.id, out)
        changed = _write(place, format_book(result.book).encode(), force=force)
    except DeclaredError as error:
        _fail(error)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}; give another file by --out")
    _report(result, file, place, changed=changed, as_json=as_json)


def _explain_nothing(result: SkypilotImport) -> str:
    reason = f"no instance has a price in {result.book.region}"
    if not result.remarks:
        return f"{reason}; choose others by --instances (* for all)"
    return f"{reason} ({len(result.remarks)} remarks, the first: {result.remarks[0]})"


def _report(
    result: SkypilotImport, file: Path, place: Path, *, changed: bool, as_json: bool
) -> None:
    for remark in result.remarks:
        where = f"{file.name}:{remark.line}" if remark.line else file.name
        typer.echo(_line(f"{where}: {remark}"), err=True)
    book = result.book
    kinds: tuple[Quoted, ...] = ("on-demand", "spot")
    counts = {
        kind: sum(prices.per_hour(kind) is not None for prices in book.prices.values())
        for kind in kinds
    }
    if as_json:
        remarks = [vars(remark) for remark in result.remarks]
        record = {"id": book.id, "file": str(place), "changed": changed, "instances": counts}
        typer.echo(json.dumps(record | {"remarks": remarks}, indent=1))
        return
    priced = f"{counts['on-demand']} instances have on-demand prices, {counts['spot']} spot prices"
    typer.echo(_line(f"{book.id}: {priced}; {place}{'' if changed else ' (unchanged)'}"))


def _describe(book: PriceBook) -> dict[str, object]:
    return {
        "id": book.id,
        "date": str(book.date),
        "region": book.region,
        "currency": book.currency,
        "scenarios": list(book.scenarios),
        "instances": len(book.prices),
    }


@app.command("prices")
def prices_command(*, as_json: AsJson = False) -> None:
    """List the catalog's price books. 2: one of them is at fault."""
    books, faults = [], []
    for name in list_price_books(BOOKS):
        try:
            books.append(read_price_book(name, BOOKS))
        except DeclaredError as error:
            faults.append(error)
    if as_json:
        typer.echo(json.dumps([_describe(book) for book in books], indent=1))
    else:
        for book in books:
            region = book.region or "no region"
            count = f"{len(book.prices)} instances"
            scenarios = ", ".join(book.scenarios) or "no prices"
            places = f"{book.date}, {region}, {book.currency}"
            typer.echo(_line(f"{book.id}: {places}; {count}; {scenarios}"))
    for fault in faults:
        typer.echo(_line(fault), err=True)
    if faults:
        raise typer.Exit(_WRONG_INPUT)


if __name__ == "__main__":
    app(prog_name="python -m catalog")
