"""Fourth act: a statement without its last page (TB-150), and whether the new code runs on Python 3.9."""
from .conversation import Conversation
from .tools import patch, read_file, terminal, todo, write_file

_REQUEST = """Staging is up again, thanks. That red test is TB-150: the statement loses its last page. For \
June it lists 36 of the 46 invoices, though the sum at the end is right. Please fix it now. rows_per_page \
stays 18, a statement without any invoice must still print the sum line, and I don't want an empty page at \
the end when the invoices fill the pages exactly."""

_COMPATIBILITY = """Looks right. Something else: our CI still runs 3.9 and I had to promise that nothing \
newer slips in. Can you check that what you wrote today really runs there? Is there a 3.9 on your machine?"""

_OLD_PAGES = '''    page_count = len(rows) // rows_per_page
    return [
        list(rows[page * rows_per_page : (page + 1) * rows_per_page]) for page in range(page_count)
    ]
'''
_WRONG_PAGES = _OLD_PAGES.replace("// rows_per_page\n", "// rows_per_page + 1\n")
_NEW_PAGES = "    return [list(rows[start : start + rows_per_page]) for start in range(0, len(rows), rows_per_page)]\n"
_PAGE_TEST_ANCHOR = "def test_statement_ends_with_the_sum():\n"
_PAGE_TESTS = '''@pytest.mark.parametrize("count, sizes", [(0, []), (1, [1]), (18, [18]), (19, [18, 1]), (46, [18, 18, 10])])
def test_page_sizes(count, sizes):
    assert [len(page) for page in split_pages(["row"] * count, 18)] == sizes


def test_statement_without_invoices():
    assert render_statement([], Settings()) == "0 invoices, total EUR 0.00\\n"


'''
_SYNTAX_CHECK = """python - <<'END'
import ast, pathlib
for path in sorted(pathlib.Path("tallybook").glob("*.py")):
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
    print("parses as 3.9:", path)
END"""
_OLDEST_PYTHON_TESTS = '''"""The package must import on Python 3.9, also where the tests run on a newer one."""
import ast
from pathlib import Path

import pytest

SOURCES = sorted(Path("tallybook").glob("*.py"))


def evaluated_annotations(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
            yield node.returns


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_no_newer_syntax(path):
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_no_unions_with_a_bar(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    unions = [ast.unparse(one) for one in evaluated_annotations(tree) if isinstance(one, ast.BinOp)]
    assert unions == []
'''


def play(talk: Conversation) -> None:
    """Play the act."""
    _mend_pages(talk)
    _check_oldest_python(talk)


def _mend_pages(talk: Conversation) -> None:
    talk.user(_REQUEST, after_minutes=34)
    talk.agent(
        "",
        todo(("8", "TB-150: last page of the statement", "in_progress")),
        read_file("tallybook/statement.py"),
        read_file("tests/test_statement.py"),
        terminal("python -m tallybook statement data/june.csv"),
        terminal("python -m tallybook statement data/june.csv | grep -c '^INV-'"),
    )
    talk.agent(
        "36 of 46. `len(rows) // rows_per_page` rounds down, so a page that isn't full is never printed; "
        "the sum is right because it is computed from the invoices and not from the pages. More cases into "
        "the tests, with your two borders (none at all, and exactly full), then one page more:",
        patch("tests/test_statement.py", _PAGE_TEST_ANCHOR, _PAGE_TESTS + _PAGE_TEST_ANCHOR),
        patch(
            "tests/test_statement.py",
            "from datetime import date\n\nfrom tallybook import Invoice",
            "from datetime import date\n\nimport pytest\n\nfrom tallybook import Invoice",
        ),
        patch("tallybook/statement.py", _OLD_PAGES, _WRONG_PAGES),
        terminal("python -m pytest tests/test_statement.py"),
    )
    talk.agent(
        "The red test of this morning is green, but that was too quick: with exactly 18 rows, and with "
        "none, `+ 1` makes the empty page you don't want. Cutting by start positions has no such border, "
        "so I replace the count altogether instead of rounding it up.",
        patch("tallybook/statement.py", _WRONG_PAGES, _NEW_PAGES),
        terminal("python -m pytest tests/test_statement.py"),
        terminal("python -m tallybook statement data/june.csv"),
    )
    talk.agent(
        "46 invoices on three pages of 18, 18 and 10. The whole suite:",
        terminal("python -m pytest -v"),
        read_file("tallybook/statement.py", 24, 20),
        todo(("8", "TB-150: last page of the statement", "completed")),
    )
    talk.agent(
        "TB-150 is fixed, and for the first time today every test is green. The last page of June starts "
        "with INV-2025-997; an empty statement prints `0 invoices, total EUR 0.00`; exactly full pages get "
        "no empty one behind them.",
    )


def _check_oldest_python(talk: Conversation) -> None:
    talk.user(_COMPATIBILITY, after_minutes=6)
    talk.agent("", terminal("python3.9 --version"), terminal("python --version"), terminal(_SYNTAX_CHECK))
    talk.agent(
        "No 3.9 here, only 3.11. All files parse with the grammar of 3.9, but that proves less than it "
        "seems: annotations are evaluated when a function is defined, and `float | Decimal` is valid "
        "syntax that raises TypeError on 3.9.",
        terminal("grep -rn -E '(->|:) [A-Za-z]+ [|] ' tallybook"),
        terminal("grep -rn 'from __future__ import annotations' tallybook"),
        terminal("grep -n 'requires-python' pyproject.toml"),
    )
    talk.agent(
        "Three places, all mine from this morning: `import tallybook` would have failed on 3.9 at `exact`. "
        "You asked for 3.9 from the start, so that was my mistake. It shouldn't depend on someone "
        "remembering, therefore a test reads the annotations from the source; it works on any version.",
        write_file("tests/test_oldest_python.py", _OLDEST_PYTHON_TESTS),
        terminal("python -m pytest tests/test_oldest_python.py"),
    )
    talk.agent(
        "It finds exactly `money.py`. I use `Union` from typing rather than `from __future__ import "
        "annotations`, as the rest of the package writes `List` and `Optional` too.",
        patch("tallybook/money.py", "from decimal import ROUND_HALF_UP, Decimal\n",
              "from decimal import ROUND_HALF_UP, Decimal\nfrom typing import Union\n"),
        terminal("sed -i 's/float | Decimal/Union[float, Decimal]/' tallybook/money.py && grep -n Union tallybook/money.py"),
        terminal("python -m pytest -q"),
    )
    talk.agent(
        "To your questions: there is no 3.9 on this machine, so I could not run it; I could only check. By "
        "grammar and by annotations the package is fine for 3.9 now, after I replaced three `float | "
        "Decimal` in `tallybook/money.py`. Of the standard library it uses only what 3.9 has. "
        "`tests/test_oldest_python.py` keeps watch from here on; your CI has the last word.",
    )
