"""Source text of the sample package's arithmetic: money, invoices, tax, numbering.

Three of its faults are deliberate and are what the recorded conversation finds: ``to_cents`` truncates a binary
float, ``LineItem`` multiplies floats, and ``next_number`` compares numbers as text.
"""

PACKAGE = '''"""Invoices, tax and monthly statements as plain text."""
from tallybook.invoice import Invoice, LineItem
from tallybook.money import format_amount, parse_amount, round_amount
from tallybook.numbering import next_number
from tallybook.records import read_invoices
from tallybook.settings import Settings, load_settings
from tallybook.statement import render_statement

__version__ = "0.3.1"

__all__ = [
    "Invoice",
    "LineItem",
    "Settings",
    "format_amount",
    "load_settings",
    "next_number",
    "parse_amount",
    "read_invoices",
    "render_statement",
    "round_amount",
]
'''

MONEY = '''"""Amounts of money: reading them, rounding them to cents, showing them."""

CENTS_PER_UNIT = 100


def parse_amount(text: str) -> float:
    """Read "1,234.50", "1234.5" or "EUR 12" as an amount.

    Raises ValueError when no number is left after the currency and the separators are gone.
    """
    cleaned = text.strip()
    if len(cleaned) > 3 and cleaned[:3].isalpha():
        cleaned = cleaned[3:].strip()
    cleaned = cleaned.replace(",", "")
    if not cleaned:
        raise ValueError("no amount in {!r}".format(text))
    return float(cleaned)


def to_cents(amount: float) -> int:
    """The amount in whole cents, as bookkeeping stores it."""
    return int(amount * CENTS_PER_UNIT)


def from_cents(cents: int) -> float:
    """The amount that so many cents make."""
    return cents / CENTS_PER_UNIT


def round_amount(amount: float) -> float:
    """The amount rounded to two places."""
    return round(amount, 2)


def format_amount(amount: float, currency: str = "EUR") -> str:
    """The amount as it is printed: "EUR 1,234.50"; a negative one is "EUR -12.00"."""
    return "{} {:,.2f}".format(currency, amount)
'''

INVOICE = '''"""Invoices and their lines."""
from dataclasses import dataclass, field
from datetime import date
from typing import List

from tallybook.money import from_cents, to_cents
from tallybook.tax import tax_on


@dataclass(frozen=True)
class LineItem:
    """One line of an invoice.

    quantity may be negative (a credit note); unit_price may have three places (price per piece in a box of
    1,000); discount is a share between 0 and 1.
    """

    description: str
    quantity: int
    unit_price: float
    discount: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.discount < 1.0:
            raise ValueError("discount must be a share below 1, got {!r}".format(self.discount))

    def net_cents(self) -> int:
        """What the line costs before tax, in cents."""
        return to_cents(self.quantity * self.unit_price * (1 - self.discount))

    def net(self) -> float:
        """What the line costs before tax."""
        return from_cents(self.net_cents())


@dataclass(frozen=True)
class Invoice:
    """A numbered bill to one customer."""

    number: str
    customer: str
    issued: date
    region: str = "NL"
    lines: List[LineItem] = field(default_factory=list)

    def net(self) -> float:
        """Sum of the lines before tax."""
        return from_cents(sum(line.net_cents() for line in self.lines))

    def tax(self) -> float:
        """Tax on the sum of the lines, rounded once per invoice."""
        return tax_on(self.net(), self.region)

    def total(self) -> float:
        """What the customer pays."""
        return from_cents(to_cents(self.net()) + to_cents(self.tax()))

    def is_credit_note(self) -> bool:
        """Whether money goes back to the customer."""
        return self.net() < 0
'''

TAX = '''"""Value added tax by region."""
from typing import Dict

from tallybook.money import round_amount

RATES: Dict[str, float] = {
    "NL": 0.21,
    "BE": 0.21,
    "DE": 0.19,
    "FR": 0.20,
    "IE": 0.23,
    "EXPORT": 0.0,
}


class UnknownRegionError(KeyError):
    """There is no rate for this region; add it to RATES or correct the invoice."""


def rate_for(region: str) -> float:
    """The rate of a region as a share: 0.21 for 21 %."""
    try:
        return RATES[region.upper()]
    except KeyError:
        raise UnknownRegionError(region) from None


def tax_on(net: float, region: str) -> float:
    """The tax on a net amount, rounded to cents."""
    return round_amount(net * rate_for(region))
'''

NUMBERING = '''"""Invoice numbers: INV-<year>-<running number, at least three digits>."""
import re
from typing import Iterable, List

PREFIX = "INV"
MINIMUM_DIGITS = 3
_NUMBER = re.compile(r"^INV-(?P<year>\\d{4})-(?P<running>\\d{3,})$")


class InvoiceNumberError(ValueError):
    """The text is not an invoice number such as INV-2025-042."""


def is_valid(number: str) -> bool:
    """Whether the text is an invoice number."""
    return _NUMBER.match(number) is not None


def running_part(number: str) -> int:
    """The running number in an invoice number: 42 in INV-2025-042."""
    match = _NUMBER.match(number)
    if match is None:
        raise InvoiceNumberError(number)
    return int(match.group("running"))


def numbers_of_year(existing: Iterable[str], year: int) -> List[str]:
    """Those of the numbers that belong to a year, in the order given."""
    start = "{}-{}-".format(PREFIX, year)
    return [number for number in existing if number.startswith(start)]


def format_number(year: int, running: int) -> str:
    """The invoice number for a year and a running number."""
    return "{}-{}-{:0{}d}".format(PREFIX, year, running, MINIMUM_DIGITS)


def next_number(existing: Iterable[str], year: int) -> str:
    """The first free number after all that exist in a year."""
    taken = numbers_of_year(existing, year)
    if not taken:
        return format_number(year, 1)
    newest = max(taken)
    return format_number(year, running_part(newest) + 1)
'''
