"""SkyPilot's list of prices becomes a price book; what is no price is reported, never taken."""

import datetime as dt
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import catalog.__main__ as command
from catalog.declared import DeclaredError, read_declared
from catalog.price_book import Billing, InstancePrices, PriceBook, PricePart, UsdRate
from catalog.skypilot import SOURCE, format_book, import_skypilot

HEADER = "InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,"
HEADER += "Region,AvailabilityZone,Price,SpotPrice\n"
HEAD = HEADER.encode()
GPU_INFO = "\"{'Gpus': [{'Name': 'K80', 'Count': 1.0}], 'TotalGpuMemoryInMiB': 12288}\""
DAY = dt.date(2026, 1, 2)
EUR = UsdRate(usd=1.25, date=DAY, source="https://www.ecb.europa.eu/")


def machine(name, price, spot, zone="a", region="r1"):
    zone = zone and f"{region}-{zone}"
    return f"{name},8.0,7.2,,,,{region},{zone},{price},{spot}\n"


def gpu(name, count, price, spot, zone="a"):
    return f",,,{name},{count},{GPU_INFO},r1,r1-{zone},{price},{spot}\n"


def write(folder, *rows, header=HEADER):
    path = folder / "vms.csv"
    path.write_bytes((header + "".join(rows)).encode())
    return path


def take(path, instances=("*",), **changes):
    asked = {"region": "r1", "date": DAY, "provider": "gce", "book_id": "b", "title": "A book"}
    return import_skypilot(path, **(asked | {"instances": instances} | changes))


def price(result, instance, kind="on-demand"):
    return result.book.usd_per_hour(instance, kind)


def parts(result, instance, kind="on-demand"):
    return [(part.part, part.per_hour) for part in result.book.prices[instance].parts(kind)]


def told(result):
    return [(remark.line, str(remark)) for remark in result.remarks]


def refused(path, **changes):
    """Return the one line of an error, without the file's folder."""
    with pytest.raises(DeclaredError) as caught:
        take(path, **changes)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value).removeprefix(f"{path.parent}/")


def test_of_several_zones_the_cheapest_for_each_kind_apart(tmp_path):
    zones = [("a", 0.30, 0.05), ("b", 0.28, 0.07), ("c", 0.28, 0.06)]
    rows = [machine("m", price, spot, zone) for zone, price, spot in zones]
    path = write(tmp_path, *rows, machine("m", 0.01, 0.01, "a", region="r2"))
    result = take(path)
    assert parts(result, "m") == [("m (r1-b)", 0.28)]  # c costs the same
    assert (parts(result, "m", "spot"), result.remarks) == ([("m (r1-a)", 0.05)], ())
    assert parts(take(path, zone="r1-c"), "m", "spot") == [("m (r1-c)", 0.06)]
    # Some providers have no zones.
    header = "SpotPrice,InstanceType,AcceleratorCount,AcceleratorName,Price,Region,Extra\n"
    path = write(tmp_path, "0.1,m,,,0.5,r1,x\n", header=header)
    assert parts(take(path), "m") == [("m (r1)", 0.5)]
    assert "AvailabilityZone 'z' is in no row; there, no row names one" in refused(path, zone="z")


def test_an_unknown_place_is_an_error_with_the_known_ones(tmp_path):
    rows = [machine("m", 1, 1, "a"), machine("m", 1, 1, "b")]
    path = write(tmp_path, *rows, machine("m", 1, 1, region="us-central1"))
    mend = "did you mean 'us-central1'? choose from r1, us-central1"
    assert refused(path, region="us-centra") == f"vms.csv: Region 'us-centra' is in no row; {mend}"
    assert refused(path, region="").endswith("in no row; choose from r1, us-central1")
    mend = "did you mean 'r1-b'? choose from r1-a, r1-b"
    assert refused(path, zone="r1-bb") == f"vms.csv: AvailabilityZone 'r1-bb' is in no row; {mend}"
    assert "choose from r1-a, r1-b" in refused(path, zone="us-central1-a")


def test_those_asked_for_all_or_those_of_the_catalog(tmp_path):
    host, other = machine("n1-standard-1", 0.05, 0.01), machine("other", 9, 8)
    path = write(tmp_path, machine("n1-highcpu-8", 0.28, 0.06), host, gpu("K80", 1, 1, 1), other)
    some = take(path, ["other", "n1-x"])
    assert list(some.book.prices) == ["other"]
    assert told(some) == [(None, "n1-x: not in the list for this region; left out")]
    everything = take(path)
    names = ["K80", "k80", "n1-highcpu-8", "n1-standard-1", "other"]
    assert (list(everything.book.prices), everything.remarks) == (names, ())
    ours = take(path, ())
    assert list(ours.book.prices) == ["k80", "n1-highcpu-8"]
    assert [remark.instance[-2:] for remark in ours.remarks] == ["16", "32", "64"]
    with pytest.raises(DeclaredError, match="no instance of provider 'gcp'; did you mean 'gce'"):
        take(path, (), provider="gcp")


def test_an_instance_made_of_parts(tmp_path):
    # In zone a 0.45 + 0.06 = 0.51; in b 0.47 + 0.03 = 0.50; c has the cheapest GPU, and no host.
    path = write(
        tmp_path,
        *(gpu("K80", 1, 0.45, 0.14, "a"), gpu("K80", 2, 0.01, 0.01, "a")),
        *(gpu("K80", "1.0", 0.47, 0.15, "b"), gpu("K80", 1, 0.20, 0.05, "c")),
        *(machine("n1-standard-1", 0.06, 0.01, "a"), machine("n1-standard-1", 0.03, 0.02, "b")),
    )
    result = take(path, ["k80"])
    assert parts(result, "k80") == [("K80 (r1-b)", 0.47), ("n1-standard-1 (r1-b)", 0.03)]
    assert parts(result, "k80", "spot") == [("K80 (r1-a)", 0.14), ("n1-standard-1 (r1-a)", 0.01)]
    assert (list(result.book.prices), result.remarks, result.book.notes) == (["k80"], (), ())


def test_an_instance_that_lacks_a_part(tmp_path):
    host = machine("n1-standard-1", 0.05, 0.01, "a")
    result = take(write(tmp_path, host, gpu("K80", 1, 0.45, "")), ["k80"])
    assert price(result, "k80") == pytest.approx(0.50)
    lacking = (None, "k80: no spot price: K80 has none; left blank")
    assert told(result) == [lacking, (3, "K80: no spot price; left blank")]
    result = take(write(tmp_path, host, gpu("K80", 1, 0.45, 0.1, "b")), ["k80"])
    lacking = "price: no zone has all of its parts; left blank"
    assert told(result) == [(None, f"k80: no {kind} {lacking}") for kind in ("on-demand", "spot")]
    result = take(write(tmp_path, host), ["k80"])
    assert told(result) == [(None, "k80: not in the list for this region (K80); left out")]
    assert result.book.prices == {}
    # A host whose price holds in the whole region is at hand in zone b.
    host = machine("n1-standard-1", 0.05, 0.01, "")
    result = take(write(tmp_path, host, gpu("K80", 1, 0.45, 0.1, "b")), ["k80"])
    assert price(result, "k80") == pytest.approx(0.50)


def test_an_accelerator_alone_is_named_by_its_count_and_noted(tmp_path):
    rows = [gpu("K80", "1.0", 0.45, 0.14), gpu("K80", 2, 0.90, 0.28), gpu("K80", 0.5, 0.2, 0.1)]
    path = write(tmp_path, *rows, machine("m", 1, 0.5))
    result = take(path)
    assert list(result.book.prices) == ["K80", "K80:0.5", "K80:2", "m"]
    assert (parts(result, "K80:2"), result.remarks) == ([("K80:2 (r1-a)", 0.90)], ())
    note = "the price of the accelerator alone, which excludes its host"
    assert result.book.notes == (f"K80, K80:0.5, K80:2: {note}",)
    assert take(path, ["K80:2"]).book.notes == (f"K80:2: {note}",)


FAULTS = {
    "is not above zero": "0 0.0 -0.3 -1e3",
    "is no finite number": "nan -inf Infinity 1e999 dear 1_000 $0.3 0x1 ٣",
    "is what SkyPilot writes where it has none": "700.0 700 7e2",
}
TEXTS = [(text, fault) for fault, texts in FAULTS.items() for text in texts.split()]


@pytest.mark.parametrize(("text", "fault"), TEXTS)
def test_what_is_no_price_is_never_taken(tmp_path, text, fault):
    result = take(write(tmp_path, machine("m", text, 0.06), machine("n", 0.28, text)))
    assert (price(result, "m"), price(result, "m", "spot")) == (None, 0.06)
    assert (price(result, "n"), price(result, "n", "spot")) == (0.28, None)
    assert told(result) == [
        (2, f"m: on-demand price {text} {fault}; no on-demand price is taken from it"),
        (3, f"n: spot price {text} {fault}; no spot price is taken from it"),
    ]


def test_blank_prices(tmp_path):
    rows = [machine("m", "", 0.06, "a"), machine("m", 0.28, "", "b"), machine("n", 0.28, "", "a")]
    result = take(write(tmp_path, *rows, machine("n", 0.27, " ", "b"), machine("void", "", 1)))
    assert (price(result, "m"), price(result, "n"), price(result, "m", "spot")) == (
        0.28,
        0.27,
        0.06,
    )
    blank = "no on-demand price; no on-demand price is taken from it"
    assert told(result) == [
        *((2, f"m: {blank}"), (3, "m: no spot price in some rows; left blank")),
        *((4, "n: no spot price; left blank"), (6, f"void: {blank}")),
    ]


def test_what_is_odd_is_kept_once_and_reported(tmp_path):
    odd, row = machine("odd", 0.28, 0.3), machine("m", 0.5, 0.5)
    result = take(write(tmp_path, odd, row, "\n", row, machine("m", "0.50", 0.5)))
    assert (price(result, "odd", "spot"), price(result, "m")) == (0.3, 0.5)
    assert told(result) == [
        (2, "odd: spot price 0.3 is above on-demand, 0.28; kept; look it up"),
        (5, "m: the same as line 3; counted once"),
    ]


def test_rows_that_contradict_each_other_leave_their_kind_and_zone_without_a_price(tmp_path):
    rows = [machine("m", 0.20, 0.06, "a"), machine("m", 0.21, 0.06, "a")]
    result = take(write(tmp_path, *rows, machine("m", 0.28, 0.07, "b")))
    assert parts(result, "m") == [("m (r1-b)", 0.28)]
    assert parts(result, "m", "spot") == [("m (r1-a)", 0.06)]
    reason = "m: on-demand price 0.21 contradicts line 2, which has 0.2; neither is taken"
    assert told(result) == [(3, reason)]
    # A third that agrees with one of them settles nothing.
    assert price(take(write(tmp_path, *rows, rows[0])), "m") is None


def test_a_row_that_is_none(tmp_path):
    rows = ["short,8.0\n", machine("m", 0.28, "0.06,surplus"), ",,,,,,r1,r1-a,1,1\n"]
    rows += [gpu("K80", "", 1, 1), gpu("K80", "-1", 1, 1), ',,,"K\n80",1,,r1,r1-a,1,1\n']
    result = take(write(tmp_path, *rows, machine("m", 0, 1)))
    assert told(result)[:-1] == [
        (2, "short: 2 fields, and the header has 10; the row is left out"),
        (3, "m: 11 fields, and the header has 10; the row is left out"),
        (4, "neither an instance nor an accelerator; the row is left out"),
        (5, "K80: '' is no number of accelerators; the row is left out"),
        (6, "K80: '-1' is no number of accelerators; the row is left out"),
        (7, "'K\\n80': a name that can't be printed; the row is left out"),
    ]
    assert result.remarks[-1].line == 9  # the row before it has two lines


def test_notes_are_capped_and_lines_are_right_whatever_their_ends(tmp_path):
    path = write(tmp_path, *(machine(f"m{place:02}", 1, "") for place in range(53)))
    path.write_bytes(path.read_text().replace("\n", "\r\n").encode("utf-8-sig"))
    result = take(path)
    assert len(result.book.notes) == 51
    assert result.book.notes[49:] == ("line 51: m49: no spot price; left blank", "and 3 more")


def test_another_currency_needs_its_rate(tmp_path):
    path = write(tmp_path, machine("m", 0.28, 0.08))
    reason = "vms.csv: prices in EUR, and nothing says what one is in USD; add usd_rate"
    assert refused(path, currency="EUR").startswith(reason)
    # 0.28 EUR × 1.25 USD/EUR
    assert price(take(path, currency="EUR", usd_rate=EUR), "m") == pytest.approx(0.35)
    assert refused(path, usd_rate=EUR) == "vms.csv: usd_rate with prices in USD; remove it"
    # A column of the list that says so counts more.
    header = HEADER.replace("\n", ",Currency\n")
    rows = [machine("m", 0.28, "0.08,EUR"), machine("n", 0.4, "0.1,EUR")]
    path = write(tmp_path, *rows, header=header)
    assert refused(path).startswith(reason)
    assert price(take(path, usd_rate=EUR), "n") == 0.5
    mixed = "prices in EUR and in {}; give a list in one currency"
    assert mixed.format("GBP") in refused(path, currency="GBP", usd_rate=EUR)
    path = write(tmp_path, *rows, machine("o", 1, "1,"), header=header)
    assert mixed.format("USD") in refused(path, usd_rate=EUR)


NO_LISTS = [
    (b"", ": the file is empty"),
    (b"\xef\xbb\xbf \r\n\n", ": the file is empty"),
    (b"a,b\n1,2\n", ":1: column InstanceType is missing; give SkyPilot's vms.csv, whose header"),
    (HEAD.replace(b"SpotPrice", b"Spot"), ":1: column SpotPrice is missing"),
    (HEAD.replace(b"Zone", b"Zone,Price"), ":1: column Price stands twice"),
    (HEAD, ": no row under the header is as long"),
    (HEAD + b"m\xff", ":2: not UTF-8; download it anew"),
    (HEAD + b"\nm\0", ":3: a NUL byte, so no text"),
    (HEAD + b'm,1\n"n,2\n', ":3: not CSV (unexpected end of data)"),
]


@pytest.mark.parametrize(("content", "reason"), NO_LISTS)
def test_a_file_that_is_no_list(tmp_path, content, reason):
    path = tmp_path / "vms.csv"
    path.write_bytes(content)
    assert refused(path).startswith(f"vms.csv{reason}")
    assert "can't be read (No such file or directory)" in refused(tmp_path / "none.csv")


CELL = st.sampled_from(["m", "K80", "1", "r1", "r1-a", "0.5", "", "700.0", "nan", "\x85", '"'])
WIDE = st.lists(CELL, min_size=9, max_size=11).map(lambda cells: ",".join(cells) + "\n")
ROWS = st.lists(WIDE | st.builds(machine, CELL, CELL, CELL, CELL), max_size=6).map("".join)
LISTS = st.binary(max_size=60) | (st.text(max_size=60) | ROWS).map(
    lambda text: (HEADER + text).encode("utf-8", "surrogatepass")
)


@settings(max_examples=300)
@given(LISTS)
def test_no_list_raises_anything_else(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content)
    try:
        result = take(path)
    except DeclaredError:
        refused(path)
        return
    assert all(len(str(remark).splitlines()) == 1 for remark in result.remarks)
    check_copy(path.with_suffix(".yml"), result.book)


def check_copy(path, book):
    path.write_bytes(format_book(book).encode())
    assert read_declared(path, PriceBook) == book


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=130)
PART = st.builds(PricePart, part=WORDS, per_hour=st.floats(0, 1e308))
PRICES = st.builds(InstancePrices, spot=st.lists(PART, max_size=3).map(tuple))


@given(WORDS, st.lists(WORDS, max_size=3), st.dictionaries(WORDS, PRICES, max_size=3))
def test_any_book_is_read_back_equal(tmp_path_factory, words, notes, prices):
    fields = {"id": words, "title": words, "source": words, "region": words, "notes": tuple(notes)}
    book = PriceBook(date=DAY, prices=prices, currency="EUR", usd_rate=EUR, **fields)
    check_copy(tmp_path_factory.getbasetemp() / "book.yml", book)


def test_the_text_of_a_book(tmp_path):
    path = write(tmp_path, machine("m", 0.28, 0.06), machine("a", 1, ""))
    book = take(path, billing=Billing(unit_s=60), source="https://a.example/").book
    assert format_book(book) == (
        "# Made by `python -m catalog skypilot`: make it anew rather than change it by hand.\n"
        "id: b\ntitle: A book\ndate: 2026-01-02\nsource: https://a.example/\n"
        f"sha256: {hashlib.sha256(path.read_bytes()).hexdigest()}\n"
        "provider: gce\nregion: r1\ncurrency: USD\nbilling:\n  unit_s: 60.0\n"
        "notes:\n- 'line 3: a: no spot price; left blank'\n"
        "prices:\n  a:\n    on-demand:\n    - {part: a (r1-a), per_hour: 1.0}\n"
        "  m:\n    spot:\n    - {part: m (r1-a), per_hour: 0.06}\n"
        "    on-demand:\n    - {part: m (r1-a), per_hour: 0.28}\n"
    )
    shuffled = book.model_copy(update={"prices": dict(reversed(book.prices.items()))})
    assert format_book(shuffled) == format_book(book)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that takes prices over into a catalog of the test's own."""
    monkeypatch.setattr(command, "BOOKS", tmp_path / "prices")
    rows = [machine("m", 0.28, 0.06), machine("n", 1, ""), machine("zero", 0, 0)]
    usual = ["skypilot", str(write(tmp_path, *rows)), "--provider", "gce", "--region", "r1"]

    def invoke(*given, start=(*usual, "--instances", "m, n,o", "--date", "2026-01-02")):
        result = CliRunner().invoke(command.app, [*start, *map(str, given)])
        return result.exit_code, result.stdout, result.stderr

    return invoke


def test_the_command_writes_a_book_and_tells_remarks(tmp_path, run):
    place = tmp_path / "prices" / "gce-r1-2026-01-02.yml"
    line = "gce-r1-2026-01-02: 2 instances have on-demand prices, 1 spot prices; "
    remarks = "vms.csv: o: not in the list for this region; left out\n"
    remarks += "vms.csv:3: n: no spot price; left blank\n"
    assert run("--billing", "1/60") == (0, f"{line}{place}\n", remarks)
    book = read_declared(place, PriceBook)
    billing = Billing(unit_s=1, minimum_s=60)
    assert (book.title, book.source, book.billing) == ("gce r1, 2026-01-02", SOURCE, billing)
    assert run("--billing", "1/60") == (0, f"{line}{place} (unchanged)\n", remarks)
    record = json.loads(run("--billing", "1/60", "--zone", "r1-a", "--json")[1])
    mend = {"line": 3, "instance": "n", "reason": "no spot price", "mend": "left blank"}
    counts = {"on-demand": 2, "spot": 1}
    assert record.pop("remarks")[1] == mend
    assert record == {"id": book.id, "file": str(place), "changed": False, "instances": counts}


def test_the_command_lists_books(tmp_path, run):
    run()
    listed = "gce-r1-2026-01-02: 2026-01-02, r1, USD; 2 instances; spot, on-demand\n"
    assert run("prices", start=()) == (0, listed, "")
    place = {"id": "gce-r1-2026-01-02", "date": "2026-01-02", "region": "r1", "currency": "USD"}
    counts = {"scenarios": ["spot", "on-demand"], "instances": 2}
    assert json.loads(run("prices", "--json", start=())[1]) == [place | counts]
    (tmp_path / "prices" / "bad.yml").write_text("id: bad\nprise: 1\n")
    code, out, err = run("prices", start=())
    assert (code, out, err.count("\n")) == (2, listed, 1)
    assert "bad.yml:2: unknown key 'prise'" in err


def test_the_command_overwrites_nothing_unless_told(tmp_path, run):
    place = tmp_path / "deep" / "mine.yml"
    before = dt.datetime.now(dt.UTC).date()
    ask = ["--out", place, "--id", "mine", "--date"]
    assert run(*ask, "")[0] == 0
    assert before <= read_declared(place, PriceBook).date <= dt.datetime.now(dt.UTC).date()
    reason = f"{place}: there is a different file; overwrite it with --force\n"
    content = place.read_bytes()
    assert run(*ask, "2026-01-02") == (2, "", reason)
    assert place.read_bytes() == content
    assert run(*ask, "2026-01-02", "--force")[0] == 0
    assert read_declared(place, PriceBook).date == DAY


WRONG = [
    ("--provider", "", "--provider is missing"),
    ("--region", "r2", "Region 'r2' is in no row; choose from r1"),
    ("--date", "2026-02-30", "--date 2026-02-30: no such day; give it as YYYY-MM-DD"),
    ("--billing", "0/60", "--billing 0/60: no rule; give seconds as UNIT/MINIMUM"),
    ("--id", "../up", "--id ../up: no name for a file"),
    ("--instances", "x", "no instance has a price in r1 (1 remarks, the first: x: not in"),
    ("--out", "{}/vms.csv/b.yml", "give another file by --out"),
    ("--out", "{}/prices/b.yml", "name it gce-r1-2026-01-02.yml, or give --id"),
]


@pytest.mark.parametrize(("option", "value", "reason"), WRONG)
def test_wrong_input_gets_one_line_and_writes_nothing(tmp_path, run, option, value, reason):
    code, out, err = run(option, value.replace("{}", str(tmp_path)))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert reason in err
    assert [item.name for item in tmp_path.rglob("*")] == ["vms.csv"]
