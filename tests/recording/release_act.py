"""Last act: an export that waits for an answer (TB-151), then one commit a ticket and what is still open."""
from .conversation import Conversation
from .tools import patch, read_file, search_files, terminal, todo

_PENDING = """Good. TB-151 (https://example.com/tallybook/issues/151): finance wants the statement as CSV \
too. They have not decided between ";" and tab as separator, I expect the answer on Thursday. So don't \
build it yet: only tell me where it would go and what it would take, and ask me again for the separator \
before you start on it."""

_COMMIT = """Fine, that can wait. Now please commit: a branch fix/june-cents, one commit per ticket in the \
order TB-142, TB-147, TB-150, TB-153 with the ticket in the subject, then a last one for the release: \
changelog and version 0.3.2. The test for old Pythons belongs to TB-142. Run everything before and after. \
Don't push, and don't tag."""

_CLOSING = "Very good. Last thing: one line for the #releases channel, and what is still open?"

_CHANGES = """# Changelog

## 0.3.2 (2025-07-08)
- Amounts are computed in decimal and half cents are rounded away from zero (TB-142). Statements may differ by cents from
  those of 0.3.1; the public API is unchanged.
- `next_number` counts beyond 999 (TB-147).
- The statement prints its last page (TB-150).
- Numbers from TALLYBOOK_* variables are numbers; a wrong one is refused by name (TB-153).

"""
_STEPS = ("suite before", "branch and four commits", "release commit 0.3.2", "suite after")


def _plan(done: int) -> tuple[tuple[str, str, str], ...]:
    statuses = ["completed"] * done + ["in_progress"] + ["pending"] * len(_STEPS)
    steps = tuple((str(number), text, status) for number, (text, status) in enumerate(zip(_STEPS, statuses, strict=False), 9))
    return (*steps, ("13", "TB-151: CSV export; ask for the separator first", "pending"))


def play(talk: Conversation) -> None:
    """Play the act."""
    _look_into_export(talk)
    _commit_tickets(talk)
    _commit_release(talk)


def _look_into_export(talk: Conversation) -> None:
    talk.user(_PENDING, after_minutes=12)
    talk.agent(
        "Only looking, no edits.",
        search_files("csv", "tallybook", "*.py"),
        read_file("tallybook/records.py"),
        read_file("tallybook/__main__.py"),
    )
    talk.agent(
        "Where it would go:\n"
        "- a new module `tallybook/export.py` with `write_statement(invoices, stream, separator)`, beside "
        "`records.py`, which reads the other way; `csv.writer` takes the separator as `delimiter`, so "
        "quoting of customers such as \"Fennel & Rye\" comes for free;\n"
        "- a command `export` in `__main__.py` with `--separator`; a setting `[export] separator` only if "
        "they want it fixed.\n\n"
        "About 40 lines and a handful of tests, no change to existing functions. One trap: with \";\" "
        "finance's spreadsheet probably expects a decimal comma as well, which a tab would not force. That "
        "is worth asking along.\n\n"
        "I keep TB-151 as pending and will ask you for the separator before I start.",
        todo(("13", "TB-151: CSV export; ask for the separator first", "pending")),
    )


def _commit_tickets(talk: Conversation) -> None:
    talk.user(_COMMIT, after_minutes=4)
    talk.agent(
        "State of the tree and the suite first.",
        todo(*_plan(0)),
        terminal("git status --short"),
        terminal("python -m pytest -v"),
        terminal("git diff"),
    )
    talk.agent(
        "All green, and the changes fall apart cleanly by file, so no hunk has to be split. Branch and "
        "TB-142:",
        terminal("git switch -c fix/june-cents"),
        terminal("git add README.md tallybook/money.py tallybook/invoice.py tallybook/tax.py tests/test_rounding.py "
                 "tests/test_python39.py && git commit -q -m 'TB-142: compute amounts in decimal'"),
    )
    talk.agent(
        "Wrong name, the file is `tests/test_oldest_python.py`. git adds nothing at all when one path is "
        "wrong, so nothing half done is left behind.",
        terminal("git diff --cached --stat; git add README.md tallybook/money.py tallybook/invoice.py tallybook/tax.py "
                 "tests/test_rounding.py tests/test_oldest_python.py && git commit -q -m 'TB-142: compute "
                 "amounts in decimal' -m 'Binary floats lost a cent in products and in half-cent taxes. "
                 "Floats stay at the border of the API.' "
                 "&& git log --oneline -1"),
    )
    talk.agent(
        "",
        terminal("git add tallybook/numbering.py tests/test_numbering.py && git commit -q -m 'TB-147: compare invoice numbers "
                 "as numbers' && git log --oneline -1"),
        terminal("git add tallybook/statement.py tests/test_statement.py && git commit -q -m 'TB-150: print the last page of "
                 "the statement' && git log --oneline -1"),
        terminal("git add tallybook/settings.py tallybook/__main__.py tests/test_settings.py && git commit -q -m 'TB-153: read "
                 "numbers from the environment as numbers' && git log --oneline -1"),
        terminal("git status --short"),
        todo(*_plan(2)),
    )


def _commit_release(talk: Conversation) -> None:
    talk.agent(
        "Four commits, clean tree. Now the release; the version may stand in more than one place.",
        search_files(r"0\.3\.1", ".", "*"),
        read_file("CHANGELOG.md"),
    )
    talk.agent(
        "Two places besides the changelog's own history.",
        patch("CHANGELOG.md", "# Changelog\n\n", _CHANGES),
        patch("pyproject.toml", 'version = "0.3.1"', 'version = "0.3.2"'),
        patch("tallybook/__init__.py", '__version__ = "0.3.1"', '__version__ = "0.3.2"'),
        terminal("python -c 'import tallybook; print(tallybook.__version__)' && grep -n version pyproject.toml"),
    )
    talk.agent(
        "",
        terminal("git commit -q -a -m 'Release 0.3.2' && git status --short && git log --oneline main..HEAD"),
        terminal("python -m pytest -v"),
        todo(*_plan(3)),
    )
    talk.agent(
        "Green after the commits too, the same tests with the same results. Last look at what is in them, "
        "and whether each commit holds what its subject says:",
        terminal("git log --stat --format='%h %s' main..HEAD"),
        terminal("python -m tallybook total data/june.csv | tail -1; "
                 "python -m tallybook next-number data/june.csv --year 2025; "
                 "python -m tallybook statement data/june.csv | grep -c '^INV-'; "
                 "TALLYBOOK_PORT=8190 python -m tallybook preview data/june.csv --check"),
        terminal("git tag --list; git remote"),
    )
    head = talk.agent("", terminal("git rev-parse --short HEAD"), todo(*_plan(4)))[0].splitlines()[0]
    talk.agent(
        f"Done: branch fix/june-cents, five commits on top of main, the last is {head} (Release 0.3.2). Nothing is pushed or "
        "tagged; the repository has no remote here.\n\n"
        "With the commits in place June gives EUR 5,454.20, the next number is INV-2025-1007, the statement lists 46 of 46 "
        "invoices, and the preview answers on port 8190 when the environment says so.",
    )
    talk.user(_CLOSING, after_minutes=7)
    talk.agent(
        "For the channel: \"tallybook 0.3.2: statements are right to the cent (TB-142), invoice numbers go on after 999 "
        "(TB-147), the last page is back (TB-150), TALLYBOOK_PORT works (TB-153).\"\n\n"
        "Still open:\n"
        "- TB-151, CSV export: not started. It waits for finance's separator (\";\" or tab, expected on Thursday), and whether "
        "they need a decimal comma. Which one shall it be?\n"
        "- A run on Python 3.9 in your CI, since I have only 3.11 here.\n"
        "- INV-2025-1000 was given out twice in June. The code no longer does that, but what was sent with that number is "
        "for bookkeeping to sort out; I changed no data.\n"
        f"- Merging fix/june-cents ({head}) and the tag v0.3.2 are yours.",
    )
