"""First act: a statement that is cents too low (TB-142). Looked into, reproduced, tested, fixed in two steps."""
from .conversation import Conversation
from .tools import patch, read_file, search_files, terminal, todo, write_file

_REQUEST = """Bookkeeping says our June statement is too low: for Harbour Ceramics they get EUR 881.14, \
`python -m tallybook total` prints 881.06. Over all customers they have EUR 5,454.20. Ticket TB-142, \
https://example.com/tallybook/issues/142.

Please find out why and fix it. Constraints:
- do not change the public API (names, signatures, return types in `__all__`; the shop passes and expects \
floats)
- keep Python 3.9 compatible
- no new dependencies
- first a test that fails, then the fix
Don't commit yet, I want to look at it first."""

_ROUNDING_TESTS = '''"""TB-142: amounts to the cent, as bookkeeping computes them."""
from datetime import date

import pytest

from tallybook import Invoice, LineItem, read_invoices, round_amount
from tallybook.money import to_cents
from tallybook.tax import tax_on


@pytest.mark.parametrize("amount, cents", [(19.99, 1999), (1.15, 115), (0.29, 29), (8.7, 870), (-19.99, -1999)])
def test_no_cent_is_lost(amount, cents):
    assert to_cents(amount) == cents


@pytest.mark.parametrize("amount, rounded", [(2.675, 2.68), (1.005, 1.01), (0.125, 0.13), (-2.675, -2.68)])
def test_half_cents_round_away_from_zero(amount, rounded):
    assert round_amount(amount) == rounded


def test_price_with_three_places():
    assert LineItem("Ceramic bead", 3, 1.005).net() == 3.02


def test_discounted_line():
    assert LineItem("Kiln hire, hour", 2, 8.70, discount=0.05).net() == 16.53


def test_tax_of_half_a_cent():
    assert tax_on(12.5, "NL") == 2.63


def test_public_results_stay_floats():
    invoice = Invoice("INV-2025-001", "Harbour Ceramics", date(2025, 6, 2), "NL", [LineItem("Clay", 3, 19.99)])
    assert [type(value) for value in (invoice.net(), invoice.tax(), invoice.total())] == [float, float, float]


def test_june_of_harbour_ceramics():
    invoices = [one for one in read_invoices("data/june.csv") if one.customer == "Harbour Ceramics"]
    assert round_amount(sum(one.total() for one in invoices)) == 881.14
'''

_OLD_TO_CENTS = '''    """The amount in whole cents, as bookkeeping stores it."""
    return int(amount * CENTS_PER_UNIT)
'''
_NEW_TO_CENTS = '''    """The amount in whole cents, as bookkeeping stores it; half a cent goes away from zero."""
    return int((exact(amount) * CENTS_PER_UNIT).quantize(Decimal(1), rounding=ROUND_HALF_UP))
'''
_OLD_HEAD = '''"""Amounts of money: reading them, rounding them to cents, showing them."""

CENTS_PER_UNIT = 100
'''
_NEW_HEAD = '''"""Amounts of money: reading them, rounding them to cents, showing them.

Amounts are floats at the border of the package and Decimals inside, see exact().
"""
from decimal import ROUND_HALF_UP, Decimal

CENTS_PER_UNIT = 100


def exact(amount: float | Decimal) -> Decimal:
    """The number that a float was written as: 1.005, not 1.00499999999999989…

    str() gives the shortest text that reads back as the same float, which is what the user or the CSV said.
    """
    return amount if isinstance(amount, Decimal) else Decimal(str(amount))
'''
_OLD_ROUND = '''    """The amount rounded to two places."""
    return round(amount, 2)
'''
_NEW_ROUND = '''    """The amount rounded to two places; half a cent goes away from zero."""
    return to_cents(amount) / CENTS_PER_UNIT
'''
_TODO = ("find the cause of TB-142", "write failing tests", "fix rounding without touching the public API", "run everything")


def _plan(*statuses: str) -> tuple[tuple[str, str, str], ...]:
    return tuple((str(number), text, status) for number, (text, status) in enumerate(zip(_TODO, statuses, strict=True), 1))


def play(talk: Conversation) -> None:
    """Play the act."""
    _look_around(talk)
    _reproduce(talk)
    _fix(talk)


def _look_around(talk: Conversation) -> None:
    talk.user(_REQUEST, after_minutes=0)
    talk.agent(
        "I'll look at the project first, then reproduce the 8 cents before I touch anything.",
        todo(*_plan("in_progress", "pending", "pending", "pending")),
        terminal("git status --short && git log --oneline && ls -R . | grep -v '^$'"),
        read_file("README.md"),
    )
    talk.agent(
        "Small package, clean tree, three commits. The constraint on floats is in the README too. Baseline "
        "of the tests, and the settings that apply:",
        terminal("python -m pytest -v"),
        read_file("pyproject.toml"),
        read_file("tallybook.cfg"),
    )
    talk.agent(
        "One test is red before I changed anything: `test_every_invoice_is_on_some_page`. It is about "
        "pages, not about amounts, so I leave it alone and will mention it at the end. Now where cents are "
        "made:",
        terminal("rg -n 'to_cents|round_amount|round\\(' tallybook"),
    )
    talk.agent(
        "No ripgrep here; the built-in search does.",
        search_files(r"to_cents|round_amount|round\(", "tallybook", "*.py"),
    )
    talk.agent(
        "Everything goes through `money.py`. Reading it and its three users.",
        read_file("tallybook/money.py"),
        read_file("tallybook/invoice.py"),
        read_file("tallybook/tax.py"),
        read_file("tallybook/records.py"),
    )


def _reproduce(talk: Conversation) -> None:
    talk.agent(
        "`to_cents` truncates (`int(amount * 100)`), and `LineItem.net_cents` gives it a product of "
        "floats. Before I believe that this is the whole story I compare with the numbers of the ticket.",
        terminal('python -m tallybook total data/june.csv --customer "Harbour Ceramics"'),
        terminal("python -m tallybook total data/june.csv | tail -1"),
        terminal("wc -l data/june.csv && cut -d, -f1 data/june.csv | sort | uniq -c | sort -rn | head -5"),
    )
    talk.agent(
        "881.06 reproduced, and 5,453.71 over all instead of 5,454.20: 49 cents in one month. 46 invoices, "
        "none with more than two lines. The data, to find lines that must lose a cent:",
        read_file("data/june.csv"),
        terminal('python -c "from tallybook import to_cents; print(to_cents(19.99))"'),
    )
    talk.agent(
        "`to_cents` isn't exported from the package; that also means that I may change it freely. From its "
        "module:",
        terminal('python -c "from tallybook.money import to_cents; '
                 "print([(x, x * 100, to_cents(x)) for x in (19.99, 1.15, 0.29, 8.7, 14.35)])\""),
        terminal('python -c "print(round(2.675, 2), round(0.125, 2), 3 * 1.005, 2 * 8.7 * (1 - 0.05))"'),
    )
    talk.agent(
        "Two separate faults:\n"
        "1. 19.99 * 100 is 1998.9999999999998 as a float, and `int()` cuts it to 1998. Every such line "
        "loses a cent.\n"
        "2. `round()` rounds half to even and sees the binary value, so 2.675 becomes 2.67 and a tax of "
        "half a cent goes missing now and then.\n\n"
        "Decision: I'll use Decimal rather than float for the arithmetic, because bookkeeping computes in "
        "decimal and no epsilon makes floats agree with it in all cases. Floats stay at the border, since "
        "the shop passes JSON numbers and the API may not change. Tests first, in a file of their own so "
        "that the diff is easy to review.",
        write_file("tests/test_rounding.py", _ROUNDING_TESTS),
        terminal("python -m pytest tests/test_rounding.py"),
        todo(*_plan("completed", "completed", "in_progress", "pending")),
    )


def _fix(talk: Conversation) -> None:
    talk.agent(
        "Red for the right reasons, and `test_public_results_stay_floats` is green as it has to be, before "
        "and after. Now `money.py`.",
        patch("tallybook/money.py", _OLD_HEAD, _NEW_HEAD),
        patch("tallybook/money.py", "    return int(amount * 100)\n", _NEW_TO_CENTS),
    )
    talk.agent(
        "The second edit missed: I wrote the body from memory, the file says CENTS_PER_UNIT. Looking at "
        "the exact lines.",
        read_file("tallybook/money.py", 36, 16),
    )
    talk.agent(
        "",
        patch("tallybook/money.py", _OLD_TO_CENTS, _NEW_TO_CENTS),
        patch("tallybook/money.py", _OLD_ROUND, _NEW_ROUND),
        terminal("python -m pytest tests/test_rounding.py"),
    )
    talk.agent(
        "Better, but not done: 3 × 1.005 is already 3.0149999999999997 when it reaches `to_cents`. "
        "Converting at the end is too late; the multiplication has to be decimal as well, in the line and "
        "in the tax.",
        patch(
            "tallybook/invoice.py",
            "        return to_cents(self.quantity * self.unit_price * (1 - self.discount))\n",
            "        return to_cents(self.quantity * exact(self.unit_price) * (1 - exact(self.discount)))\n",
        ),
        patch(
            "tallybook/invoice.py",
            "from tallybook.money import from_cents, to_cents\n",
            "from tallybook.money import exact, from_cents, to_cents\n",
        ),
        patch(
            "tallybook/tax.py",
            "    return round_amount(net * rate_for(region))\n",
            "    return round_amount(exact(net) * exact(rate_for(region)))\n",
        ),
        patch("tallybook/tax.py", "import round_amount\n", "import exact, round_amount\n"),
        terminal("python -m pytest tests/test_rounding.py"),
    )
    talk.agent(
        "All green, 881.14 included. `round_amount` and `to_cents` now also take a Decimal, so their "
        "annotation has to say so; `round_amount` is public and only becomes wider there, callers with "
        "floats see no difference.",
        terminal("grep -n 'def .*amount' tallybook/money.py"),
        read_file("tallybook/money.py"),
    )
    talk.agent(
        "",
        patch("tallybook/money.py", "def to_cents(amount: float) -> int:", "def to_cents(amount: float | Decimal) -> int:"),
        patch(
            "tallybook/money.py",
            "def round_amount(amount: float) -> float:",
            "def round_amount(amount: float | Decimal) -> float:",
        ),
        terminal("python -m pytest"),
        terminal("python -m tallybook total data/june.csv | tail -1"),
    )
    talk.agent(
        "",
        todo(*_plan("completed", "completed", "completed", "completed")),
        terminal("git diff --stat && git status --short"),
    )
    talk.agent(
        "TB-142 is fixed in the working tree, nothing committed.\n\n"
        "- Cause: binary floats. `to_cents` truncated 1998.9999999999998 to 1998, and `round()` rounded "
        "half cents to even.\n"
        "- Fix: `exact()` in `tallybook/money.py` turns a float into the Decimal it was written as; lines "
        "and tax multiply Decimals and round once, half away from zero. Floats at the border as before.\n"
        "- June: Harbour Ceramics EUR 881.14, all customers EUR 5,454.20, as bookkeeping has it.\n"
        "- 14 new tests in `tests/test_rounding.py`.\n\n"
        "Left: `tests/test_statement.py::test_every_invoice_is_on_some_page` was red before I started and "
        "still is. I didn't touch it.",
    )
