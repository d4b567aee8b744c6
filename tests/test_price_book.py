"""Price books: parts, premiums, currencies, bare numbers; and what is wrong with one, in a line."""

import datetime as dt

import pytest

from catalog.declared import DeclaredError
from catalog.price_book import Billing, list_price_books, read_price_book, read_price_file

HEAD = "date: 2026-01-02\nsource: my contract\n"


def read(tmp_path, text):
    path = tmp_path / "mine.yml"
    path.write_text(text, encoding="utf-8")
    return read_price_file(str(path))


@pytest.mark.parametrize(
    ("instance", "usd"),
    [
        # As design.md gives them: 0.700 + 0.045; 0.060 × 1.0607 and its multiples.
        ("k80", 0.745),
        ("n1-highcpu-8", 0.060 * 1.0607),
        ("n1-highcpu-16", 0.060 * 1.0607 * 2),
        ("n1-highcpu-32", 0.060 * 1.0607 * 4),
        ("n1-highcpu-64", 0.509136),
    ],
)
def test_the_2017_prices(instance, usd):
    book = read_price_book("gce-2017-07")
    assert book.usd_per_hour(instance, "as-published") == pytest.approx(usd, rel=1e-12)
    assert book.date == dt.date(2017, 7, 5)
    assert book.billing == Billing(unit_s=1, minimum_s=60)


def test_on_demand_is_five_times_spot():
    book = read_price_book("gce-2017-07")
    for size in (8, 16, 32, 64):
        spot = book.usd_per_hour(f"n1-highcpu-{size}", "spot")
        assert book.usd_per_hour(f"n1-highcpu-{size}", "on-demand") == pytest.approx(5 * spot)
    assert book.usd_per_hour("k80", "spot") is None


@pytest.mark.parametrize("name", list_price_books())
def test_each_book_of_the_catalog_can_be_read_and_has_prices(name):
    book = read_price_book(name)
    assert book.scenarios
    assert book.source.startswith("https://")


def test_parts_add_up_and_premiums_are_per_cent(tmp_path):
    text = """billing: {unit_s: 3600}
prices:
  gpu-box:
    on-demand:
      - {part: GPU, per_hour: 2.0, premium_percent: 50}
      - {part: host, per_hour: 0.25}
    spot: 1.5
"""
    book = read(tmp_path, HEAD + text)
    assert book.usd_per_hour("gpu-box", "on-demand") == 3.25
    assert book.usd_per_hour("gpu-box", "spot") == 1.5
    assert book.usd_per_hour("gpu-box", "own") is None
    assert book.usd_per_hour("other", "spot") is None
    assert book.billing == Billing(unit_s=3600)
    assert book.scenarios == ("spot", "on-demand")


def test_a_bare_number_is_the_users_own_price(tmp_path):
    book = read(tmp_path, HEAD + "prices: {a: 0.5, b: 2, c: {own: 0.1, spot: 0.05}, d: }\n")
    assert [book.usd_per_hour(name, "own") for name in "abcd"] == [0.5, 2.0, 0.1, None]
    assert book.scenarios == ("spot", "own")
    assert (book.title, book.billing) == ("Own prices", None)


def test_a_price_of_zero_or_none_is_no_price(tmp_path):
    text = "prices:\n  a: 0\n  b: {spot: 0.0, on-demand: }\n  c: {spot: []}\n"
    book = read(tmp_path, HEAD + text)
    assert book.scenarios == ()
    assert {book.usd_per_hour(name, "spot") for name in "abc"} == {None}


def test_another_currency_needs_its_rate(tmp_path):
    text = "currency: EUR\n{}prices: {{a: 0.5}}\n"
    with pytest.raises(DeclaredError, match="prices in EUR, and nothing says what one is in USD"):
        read(tmp_path, HEAD + text.format(""))
    rate = "usd_rate: {usd: 1.25, date: 2026-01-02, source: https://www.ecb.europa.eu/}\n"
    assert read(tmp_path, HEAD + text.format(rate)).usd_per_hour("a", "own") == 0.625
    with pytest.raises(DeclaredError, match="usd_rate with prices in USD; remove it"):
        read(tmp_path, HEAD + rate + "prices: {a: 1}\n")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("prices: {a: -1}\n", 3, "greater than or equal to 0"),
        ("prices:\n  a: {spot: .nan}\n", 4, "finite number"),
        ("prices:\n  a: {spto: 1}\n", 4, "unknown key 'prices.a.spto'; did you mean 'spot'?"),
        ("currency: usd\nprices: {a: 1}\n", 3, "currency = 'usd'"),
        ("prices:\n  a: {spot: [{part: x, per_hour: 1, premium_percent: -100}]}\n", 4, "-100"),
        ("prices: {a: dear}\n", 3, "prices.a"),
        ("billing: {unit_s: 0}\nprices: {a: 1}\n", 3, "billing.unit_s = 0"),
    ],
)
def test_a_faulty_book_gets_one_line(tmp_path, text, line, reason):
    with pytest.raises(DeclaredError) as caught:
        read(tmp_path, HEAD + text)
    assert f"mine.yml:{line}: " in str(caught.value)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_date_and_a_source_are_asked_for(tmp_path):
    for text, lacking in (("source: x\n", "date"), ("date: 2026-01-02\n", "source")):
        with pytest.raises(DeclaredError, match=f"'{lacking}' is missing"):
            read(tmp_path, text + "prices: {a: 1}\n")


def test_a_name_that_is_neither_file_nor_book(tmp_path):
    with pytest.raises(DeclaredError, match="no such file of prices; name a file, or a price book"):
        read_price_file("gce-2017")
    (tmp_path / "prices").mkdir()
    (tmp_path / "prices" / "b.yml").write_text("id: a\n" + HEAD + "prices: {a: 1}\n")
    with pytest.raises(DeclaredError, match="id is 'a', and the file's name 'b'"):
        read_price_book("b", tmp_path / "prices")
