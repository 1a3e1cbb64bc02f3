"""Source text of the sample package's edges: settings, CSV records, statement, preview, command line.

Two of its faults are deliberate: a port from the environment stays text, and the statement drops its last page.
"""

SETTINGS = '''"""Settings from tallybook.cfg, overridden by TALLYBOOK_* environment variables."""
import configparser
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Optional

DEFAULT_FILE = "tallybook.cfg"
ENVIRONMENT_PREFIX = "TALLYBOOK_"


@dataclass(frozen=True)
class Settings:
    """What can be configured."""

    currency: str = "EUR"
    rows_per_page: int = 18
    page_width: int = 72
    host: str = "127.0.0.1"
    port: int = 8087


def load_settings(path: str = DEFAULT_FILE, environ: Optional[Mapping[str, str]] = None) -> Settings:
    """Read the settings; a missing file means the defaults.

    Each setting can be overridden: TALLYBOOK_PORT=9000, TALLYBOOK_CURRENCY=GBP, and so on.
    """
    environ = os.environ if environ is None else environ
    parser = configparser.ConfigParser()
    if Path(path).exists():
        parser.read(path, encoding="utf-8")
    values = {
        "currency": parser.get("statement", "currency", fallback=Settings.currency),
        "rows_per_page": parser.getint("statement", "rows_per_page", fallback=Settings.rows_per_page),
        "page_width": parser.getint("statement", "page_width", fallback=Settings.page_width),
        "host": parser.get("preview", "host", fallback=Settings.host),
        "port": parser.getint("preview", "port", fallback=Settings.port),
    }
    for name in values:
        override = environ.get(ENVIRONMENT_PREFIX + name.upper())
        if override is not None:
            values[name] = override
    return Settings(**values)
'''

RECORDS = '''"""Invoices from CSV files, one row a line of an invoice."""
import csv
from datetime import date
from pathlib import Path
from typing import Dict, List

from tallybook.invoice import Invoice, LineItem
from tallybook.money import parse_amount

COLUMNS = ["number", "issued", "customer", "region", "description", "quantity", "unit_price", "discount"]


class RecordError(ValueError):
    """A row of a CSV file can't be read; the message names the file and the line."""


def read_invoices(path: str) -> List[Invoice]:
    """Read a CSV file; rows with the same number make one invoice, in order of first appearance."""
    invoices: Dict[str, Invoice] = {}
    with Path(path).open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        missing = [column for column in COLUMNS if column not in (reader.fieldnames or [])]
        if missing:
            raise RecordError("{}: no column {}".format(path, ", ".join(missing)))
        for row in reader:
            try:
                line = LineItem(
                    description=row["description"],
                    quantity=int(row["quantity"]),
                    unit_price=parse_amount(row["unit_price"]),
                    discount=float(row["discount"] or 0),
                )
                issued = date.fromisoformat(row["issued"])
            except ValueError as error:
                raise RecordError("{}:{}: {}".format(path, reader.line_num, error)) from error
            known = invoices.get(row["number"])
            if known is None:
                invoices[row["number"]] = Invoice(
                    row["number"], row["customer"], issued, row["region"], [line]
                )
            else:
                known.lines.append(line)
    return list(invoices.values())
'''

STATEMENT = '''"""The monthly statement: a table of invoices, cut into pages."""
from typing import List, Sequence

from tallybook.invoice import Invoice
from tallybook.money import format_amount, round_amount
from tallybook.settings import Settings

_ROW = "{number:<13} {issued:<10} {customer:<20} {amount:>16}"


def _table_row(invoice: Invoice, currency: str) -> str:
    return _ROW.format(
        number=invoice.number,
        issued=invoice.issued.isoformat(),
        customer=invoice.customer[:20],
        amount=format_amount(invoice.total(), currency),
    )


def split_pages(rows: Sequence[str], rows_per_page: int) -> List[List[str]]:
    """Cut rows into pages of at most rows_per_page."""
    page_count = len(rows) // rows_per_page
    return [
        list(rows[page * rows_per_page : (page + 1) * rows_per_page]) for page in range(page_count)
    ]


def render_statement(invoices: Sequence[Invoice], settings: Settings) -> str:
    """The statement as text: pages with a heading, then the sum of all invoices."""
    rule = "-" * settings.page_width
    rows = [_table_row(invoice, settings.currency) for invoice in invoices]
    pages = split_pages(rows, settings.rows_per_page)
    parts: List[str] = []
    for index, page in enumerate(pages):
        parts.append("Statement{:>{}}".format("page {} of {}".format(index + 1, len(pages)), settings.page_width - 9))
        parts.append(rule)
        parts.extend(page)
        parts.append(rule)
        parts.append("")
    total = round_amount(sum(invoice.total() for invoice in invoices))
    parts.append("{} invoices, total {}".format(len(invoices), format_amount(total, settings.currency)))
    return "\\n".join(parts) + "\\n"
'''

PREVIEW = '''"""A small web server that shows the statement while it is being worked on."""
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Type

from tallybook.records import read_invoices
from tallybook.settings import Settings
from tallybook.statement import render_statement


def address(settings: Settings) -> str:
    """Where the preview is served."""
    return "http://{}:{:d}/statement".format(settings.host, settings.port)


def _handler(path: str, settings: Settings) -> Type[BaseHTTPRequestHandler]:
    class StatementHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = render_statement(read_invoices(path), settings).encode("utf-8")
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

    return StatementHandler


def serve(path: str, settings: Settings) -> None:
    """Serve the statement of a CSV file until it is interrupted."""
    with HTTPServer((settings.host, settings.port), _handler(path, settings)) as server:
        server.serve_forever()
'''

COMMAND_LINE = '''"""Command line: python -m tallybook {total,statement,next-number,preview} FILE."""
import argparse
import sys
from typing import List, Optional

from tallybook import preview
from tallybook.money import format_amount, round_amount
from tallybook.numbering import next_number
from tallybook.records import RecordError, read_invoices
from tallybook.settings import load_settings
from tallybook.statement import render_statement


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tallybook")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("total", "statement", "next-number", "preview"):
        command = commands.add_parser(name)
        command.add_argument("file")
        if name == "total":
            command.add_argument("--customer")
        if name == "next-number":
            command.add_argument("--year", type=int, required=True)
        if name == "preview":
            command.add_argument("--check", action="store_true", help="print the address and stop")
    return parser


def main(arguments: Optional[List[str]] = None) -> int:
    options = build_parser().parse_args(arguments)
    settings = load_settings()
    try:
        invoices = read_invoices(options.file)
    except (OSError, RecordError) as error:
        print("tallybook: {}".format(error), file=sys.stderr)
        return 2
    if options.command == "total":
        chosen = [one for one in invoices if options.customer in (None, one.customer)]
        for invoice in chosen:
            print("{}  {}".format(invoice.number, format_amount(invoice.total(), settings.currency)))
        total = round_amount(sum(invoice.total() for invoice in chosen))
        print("total {}".format(format_amount(total, settings.currency)))
    elif options.command == "statement":
        print(render_statement(invoices, settings), end="")
    elif options.command == "next-number":
        print(next_number([invoice.number for invoice in invoices], options.year))
    elif options.check:
        print("would serve {} on {}".format(options.file, preview.address(settings)))
    else:
        preview.serve(options.file, settings)
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''
