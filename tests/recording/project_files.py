"""The sample project as a whole: every file of it by path, with its read-me, settings and data."""
from .package_files import INVOICE, MONEY, NUMBERING, PACKAGE, TAX
from .report_files import COMMAND_LINE, PREVIEW, RECORDS, SETTINGS, STATEMENT
from .suite_files import TEST_INVOICE, TEST_MONEY, TEST_NUMBERING, TEST_SETTINGS, TEST_STATEMENT, TEST_TAX

README = """# tallybook

Invoices, tax and monthly statements as plain text. No dependencies; Python 3.9 and newer.

## Use

    python -m tallybook total data/june.csv --customer "Harbour Ceramics"
    python -m tallybook statement data/june.csv
    python -m tallybook next-number data/june.csv --year 2025
    python -m tallybook preview data/june.csv          # http://127.0.0.1:8087/statement

From Python:

    from tallybook import Invoice, LineItem, render_statement, read_invoices, load_settings
    print(render_statement(read_invoices("data/june.csv"), load_settings()))

## Settings

`tallybook.cfg` in the working directory, section by section; every value can be overridden by an environment
variable, `TALLYBOOK_` and the name in capitals (`TALLYBOOK_PORT=9000`).

| name | default | meaning |
|---|---|---|
| currency | EUR | printed before each amount |
| rows_per_page | 18 | invoices on a page of the statement |
| page_width | 72 | characters in a line of the statement |
| host, port | 127.0.0.1, 8087 | where the preview listens |

## Public API

What `tallybook/__init__.py` lists in `__all__`. Names, signatures and return types there change only with a new
major version. Amounts are floats at the border (the shop system passes JSON numbers).

## Tests

    python -m pytest
"""

CHANGELOG = """# Changelog

## 0.3.1 (2025-05-19)
- The preview can be checked without starting it (`--check`).

## 0.3.0 (2025-04-02)
- Statements are cut into pages.
- Settings can be overridden from the environment.

## 0.2.0 (2025-02-11)
- Discounts on lines; regions other than NL.
"""

PYPROJECT = """[project]
name = "tallybook"
version = "0.3.1"
description = "Invoices, tax and monthly statements as plain text."
requires-python = ">=3.9"
dependencies = []

[tool.pytest.ini_options]
testpaths = ["tests"]
"""

CONFIGURATION = """[statement]
currency = EUR
rows_per_page = 18
page_width = 72

[preview]
host = 127.0.0.1
port = 8087
"""

IGNORED = "__pycache__/\n.pytest_cache/\n"

_CUSTOMERS = (
    ("Harbour Ceramics", "NL"), ("Fennel & Rye", "NL"), ("Atelier Noor", "BE"), ("Kupferwerk Sued", "DE"),
    ("Maison Tilleul", "FR"), ("Ballyhale Looms", "IE"), ("North Quay Supply", "EXPORT"),
)
_ARTICLES = (
    ("Stoneware clay 25 kg", "19.99"), ("Glaze, celadon 1 l", "14.35"), ("Kiln hire, hour", "8.70"),
    ("Ceramic bead", "1.005"), ("Throwing ribs, set", "23.15"), ("Cone 6, box", "11.45"),
)
INVOICE_COUNT = 46


def june_records() -> str:
    """The CSV file of June: 46 invoices with one or two lines each, made by a fixed rule so that it stays short here."""
    rows = ["number,issued,customer,region,description,quantity,unit_price,discount"]
    for index in range(INVOICE_COUNT):
        customer, region = _CUSTOMERS[index * 3 % len(_CUSTOMERS)]
        for line in range(1 + index % 4 // 2):
            article, price = _ARTICLES[(index * 5 + line * 2) % len(_ARTICLES)]
            quantity = -2 if index == 33 else 1 + (index * 7 + line * 3) % 9
            discount = "0.05" if index % 6 == 4 else ""
            rows.append(
                f"INV-2025-{index + 961:03d},2025-06-{1 + index * 29 // INVOICE_COUNT:02d},{customer},{region},"
                f'"{article}",{quantity},{price},{discount}'
            )
    return "\n".join(rows) + "\n"


PROJECT_FILES: dict[str, str] = {
    ".gitignore": IGNORED,
    "CHANGELOG.md": CHANGELOG,
    "README.md": README,
    "data/june.csv": june_records(),
    "pyproject.toml": PYPROJECT,
    "tallybook.cfg": CONFIGURATION,
    "tallybook/__init__.py": PACKAGE,
    "tallybook/__main__.py": COMMAND_LINE,
    "tallybook/invoice.py": INVOICE,
    "tallybook/money.py": MONEY,
    "tallybook/numbering.py": NUMBERING,
    "tallybook/preview.py": PREVIEW,
    "tallybook/records.py": RECORDS,
    "tallybook/settings.py": SETTINGS,
    "tallybook/statement.py": STATEMENT,
    "tallybook/tax.py": TAX,
    "tests/test_invoice.py": TEST_INVOICE,
    "tests/test_money.py": TEST_MONEY,
    "tests/test_numbering.py": TEST_NUMBERING,
    "tests/test_settings.py": TEST_SETTINGS,
    "tests/test_statement.py": TEST_STATEMENT,
    "tests/test_tax.py": TEST_TAX,
}
"""Path inside the project to text, in the order in which the files are written."""
