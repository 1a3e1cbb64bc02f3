"""Source text of the sample project's own tests, as they are before the recorded conversation begins.

One of them is red from the start: the statement's last page is missing.
"""

TEST_MONEY = '''import pytest

from tallybook.money import format_amount, from_cents, parse_amount, round_amount, to_cents


@pytest.mark.parametrize(
    "text, amount",
    [("12", 12.0), ("12.5", 12.5), ("1,234.50", 1234.5), ("EUR 12", 12.0), (" -3.20 ", -3.2)],
)
def test_parse_amount(text, amount):
    assert parse_amount(text) == amount


@pytest.mark.parametrize("text", ["", "EUR", "twelve"])
def test_parse_amount_refuses_what_is_no_number(text):
    with pytest.raises(ValueError):
        parse_amount(text)


def test_cents_and_back():
    assert to_cents(12.5) == 1250
    assert from_cents(1250) == 12.5


def test_round_amount():
    assert round_amount(1.234) == 1.23
    assert round_amount(1.236) == 1.24


def test_format_amount():
    assert format_amount(1234.5) == "EUR 1,234.50"
    assert format_amount(-12, "GBP") == "GBP -12.00"
'''

TEST_INVOICE = '''from datetime import date

import pytest

from tallybook import Invoice, LineItem


def make_invoice(*lines, region="NL"):
    return Invoice("INV-2025-001", "Harbour Ceramics", date(2025, 6, 2), region, list(lines))


def test_line_net():
    assert LineItem("Glaze", 4, 12.5).net() == 50.0


def test_line_discount():
    assert LineItem("Glaze", 4, 12.5, discount=0.5).net() == 25.0


@pytest.mark.parametrize("discount", [-0.1, 1.0, 7])
def test_discount_must_be_a_share(discount):
    with pytest.raises(ValueError, match="discount must be a share"):
        LineItem("Glaze", 1, 1.0, discount)


def test_invoice_total_adds_tax():
    invoice = make_invoice(LineItem("Glaze", 4, 12.5), LineItem("Kiln hire", 1, 50.0))
    assert invoice.net() == 100.0
    assert invoice.tax() == 21.0
    assert invoice.total() == 121.0


def test_credit_note():
    assert make_invoice(LineItem("Returned glaze", -1, 12.5)).is_credit_note()
    assert not make_invoice(LineItem("Glaze", 1, 12.5)).is_credit_note()
'''

TEST_TAX = '''import pytest

from tallybook.tax import UnknownRegionError, rate_for, tax_on


@pytest.mark.parametrize("region, rate", [("NL", 0.21), ("de", 0.19), ("EXPORT", 0.0)])
def test_rate_for(region, rate):
    assert rate_for(region) == rate


def test_unknown_region():
    with pytest.raises(UnknownRegionError):
        rate_for("XX")


def test_tax_on():
    assert tax_on(200.0, "DE") == 38.0
    assert tax_on(200.0, "EXPORT") == 0.0
'''

TEST_NUMBERING = '''import pytest

from tallybook.numbering import InvoiceNumberError, is_valid, next_number, running_part


def test_first_number_of_a_year():
    assert next_number([], 2025) == "INV-2025-001"


def test_next_number_ignores_other_years():
    assert next_number(["INV-2024-120", "INV-2025-007"], 2025) == "INV-2025-008"


def test_running_part():
    assert running_part("INV-2025-042") == 42
    with pytest.raises(InvoiceNumberError):
        running_part("2025/42")


@pytest.mark.parametrize("number, valid", [("INV-2025-001", True), ("INV-25-1", False), ("inv-2025-001", False)])
def test_is_valid(number, valid):
    assert is_valid(number) is valid
'''

TEST_SETTINGS = '''from tallybook import Settings, load_settings


def test_defaults_without_a_file(tmp_path):
    assert load_settings(str(tmp_path / "none.cfg"), environ={}) == Settings()


def test_file(tmp_path):
    path = tmp_path / "tallybook.cfg"
    path.write_text("[statement]\\ncurrency = GBP\\nrows_per_page = 5\\n\\n[preview]\\nport = 9001\\n")
    settings = load_settings(str(path), environ={})
    assert settings.currency == "GBP"
    assert settings.rows_per_page == 5
    assert settings.port == 9001


def test_environment_wins(tmp_path):
    settings = load_settings(str(tmp_path / "none.cfg"), environ={"TALLYBOOK_CURRENCY": "SEK"})
    assert settings.currency == "SEK"
'''

TEST_STATEMENT = '''from datetime import date

from tallybook import Invoice, LineItem, Settings, render_statement
from tallybook.statement import split_pages


def make_invoices(count):
    return [
        Invoice("INV-2025-{:03d}".format(n), "Harbour Ceramics", date(2025, 6, 1 + n % 28), "NL", [LineItem("Clay", 1, 10.0)])
        for n in range(1, count + 1)
    ]


def test_full_pages():
    assert split_pages(["a", "b", "c", "d"], 2) == [["a", "b"], ["c", "d"]]


def test_statement_ends_with_the_sum():
    text = render_statement(make_invoices(18), Settings())
    assert text.endswith("18 invoices, total EUR 217.80\\n")


def test_every_invoice_is_on_some_page():
    text = render_statement(make_invoices(20), Settings())
    for invoice in make_invoices(20):
        assert invoice.number in text
'''
