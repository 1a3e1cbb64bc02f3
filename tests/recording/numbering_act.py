"""Third act: numbers given out twice (TB-147), interrupted by a preview that does not start (TB-153)."""
from .conversation import Conversation
from .tools import patch, read_file, search_files, terminal, todo

_REQUEST = """Bookkeeping confirms: away from zero, a credit note mirrors its invoice. Please say so in one \
sentence in the README, under "Public API". The diff is fine.

Next is TB-147 (https://example.com/tallybook/issues/147): `next-number` gave out INV-2025-1000 on June 25 \
and the same number again the next day; since then we write the numbers by hand. Constraints: the format \
stays INV-YYYY-NNN with at least three digits, existing invoices are never renumbered, and `next_number` \
keeps its signature."""

_INTERRUPTION = """Stop there for a moment, something more urgent: the preview on staging has been down \
since this morning's deploy. The deploy sets TALLYBOOK_PORT=8190 because 8087 is taken on that machine; \
http://staging.example.com:8190/statement refuses connections and the log shows a traceback. Ticket TB-153. \
Please fix that first and then go back to the numbers. Leave tallybook.cfg as it is: 8087 stays the default."""

_README_SENTENCE = "major version. Amounts are floats at the border (the shop system passes JSON numbers).\n"
_README_ROUNDING = _README_SENTENCE + (
    "Half a cent is rounded away from zero, so a credit note is the exact mirror image of its invoice.\n"
)
_NUMBER_TEST_ANCHOR = "def test_running_part():\n"
_NUMBER_TESTS = '''@pytest.mark.parametrize(
    "existing, following",
    [
        (["INV-2025-998", "INV-2025-999"], "INV-2025-1000"),
        (["INV-2025-999", "INV-2025-1000"], "INV-2025-1001"),
        (["INV-2025-1006", "INV-2025-042", "INV-2025-999"], "INV-2025-1007"),
        (["INV-2025-9999", "INV-2025-10000"], "INV-2025-10001"),
    ],
)
def test_next_number_counts_beyond_three_digits(existing, following):
    assert next_number(existing, 2025) == following


'''
_SETTINGS_ANCHOR = "def test_environment_wins(tmp_path):\n"
_SETTINGS_TESTS = '''@pytest.mark.parametrize("name, value", [("port", 8190), ("rows_per_page", 5), ("page_width", 100)])
def test_numbers_from_the_environment_are_numbers(name, value):
    environ = {"TALLYBOOK_" + name.upper(): str(value)}
    assert getattr(load_settings("no-such-file.cfg", environ), name) == value


def test_a_number_that_is_none_is_refused_by_name():
    with pytest.raises(ValueError, match="TALLYBOOK_PORT must be a whole number, got '81x0'"):
        load_settings("no-such-file.cfg", environ={"TALLYBOOK_PORT": "81x0"})


'''
_OLD_OVERRIDE = '''    for name in values:
        override = environ.get(ENVIRONMENT_PREFIX + name.upper())
        if override is not None:
            values[name] = override
    return Settings(**values)
'''
_NEW_OVERRIDE = '''    for name, value in values.items():
        override = environ.get(ENVIRONMENT_PREFIX + name.upper())
        if override is not None:
            values[name] = override if isinstance(value, str) else _whole_number(name, override)
    return Settings(**values)


def _whole_number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        variable = ENVIRONMENT_PREFIX + name.upper()
        raise ValueError("{} must be a whole number, got {!r}".format(variable, text)) from None
'''
_OLD_START = '''    settings = load_settings()
    try:
        invoices = read_invoices(options.file)
    except (OSError, RecordError) as error:
'''
_NEW_START = '''    try:
        settings = load_settings()
        invoices = read_invoices(options.file)
    except (OSError, ValueError) as error:
'''
_PARKED = (
    ("5", "README: half cents away from zero", "completed"),
    ("6", "TB-147: next_number beyond 999 (failing test is written)", "pending"),
    ("7", "TB-153: TALLYBOOK_PORT breaks the preview", "in_progress"),
)


def play(talk: Conversation) -> None:
    """Play the act."""
    _begin_numbering(talk)
    _repair_preview(talk)
    _finish_numbering(talk)


def _begin_numbering(talk: Conversation) -> None:
    talk.user(_REQUEST, after_minutes=21)
    talk.agent(
        "README first, then the numbers.",
        todo(("5", "README: half cents away from zero", "in_progress"), ("6", "TB-147: next_number beyond 999", "pending")),
        patch("README.md", _README_SENTENCE, _README_ROUNDING),
        read_file("tallybook/numbering.py"),
        read_file("tests/test_numbering.py"),
    )
    talk.agent(
        "`next_number` takes `max(taken)` of texts, and as text \"INV-2025-999\" is greater than "
        "\"INV-2025-1000\". So from 1000 on the newest is always 999. Checking that on the real data, and "
        "whether anything else orders numbers as text.",
        terminal("python -m tallybook next-number data/june.csv --year 2025"),
        terminal("grep -c '^INV-2025-1000,' data/june.csv"),
        search_files(r"sorted\(|max\(|\.sort\(", "tallybook", "*.py"),
        read_file("data/june.csv"),
    )
    talk.agent(
        "Confirmed: it offers INV-2025-1000, which exists; June already goes to INV-2025-1006, so the "
        "right answer is INV-2025-1007. `max(taken)` is the only place. The test before the fix:",
        patch("tests/test_numbering.py", _NUMBER_TEST_ANCHOR, _NUMBER_TESTS + _NUMBER_TEST_ANCHOR),
        terminal("python -m pytest tests/test_numbering.py"),
    )


def _repair_preview(talk: Conversation) -> None:
    talk.user(_INTERRUPTION, after_minutes=1)
    talk.agent(
        "Parking TB-147 with its red test in place. For TB-153 I reproduce with `--check`, which builds "
        "the address but opens no port.",
        todo(*_PARKED),
        terminal("TALLYBOOK_PORT=8190 python -m tallybook preview data/june.csv --check"),
        terminal("python -m tallybook preview data/june.csv --check"),
        read_file("tallybook/settings.py"),
        read_file("tallybook/preview.py"),
    )
    talk.agent(
        "Reproduced. `load_settings` reads the file with `getint`, but an override from the environment "
        "stays a str, so the port is \"8190\" rather than 8190. The same must hold for the other numbers:",
        terminal("TALLYBOOK_ROWS_PER_PAGE=5 python -m tallybook statement data/june.csv 2>&1 | tail -4"),
        terminal("TALLYBOOK_PORT=81x0 python -m tallybook total data/june.csv | tail -1"),
        read_file("tests/test_settings.py"),
        read_file("tallybook/__main__.py"),
    )
    talk.agent(
        "Yes, `rows_per_page` breaks in the same way, and nonsense such as 81x0 is accepted in silence. "
        "Decision: convert where the override is applied, by the type of the value it replaces, rather "
        "than in `preview.py`; otherwise each reader of a setting has to convert again. A wrong number "
        "raises ValueError naming the variable (no new exception type: that would be a new public name), "
        "and the command line prints it and ends with 2.",
        patch("tests/test_settings.py", _SETTINGS_ANCHOR, _SETTINGS_TESTS + _SETTINGS_ANCHOR),
        patch(
            "tests/test_settings.py",
            "from tallybook import Settings, load_settings\n",
            "import pytest\n\nfrom tallybook import Settings, load_settings\n",
        ),
        terminal("python -m pytest tests/test_settings.py"),
    )
    talk.agent(
        "Four red ones. The fix:",
        patch("tallybook/settings.py", _OLD_OVERRIDE, _NEW_OVERRIDE),
        patch("tallybook/__main__.py", _OLD_START, _NEW_START),
        terminal("python -m pytest tests/test_settings.py"),
    )
    talk.agent(
        "Green. RecordError is a ValueError, so one except clause covers both; its import is unused now. "
        "Then the three commands from before.",
        patch(
            "tallybook/__main__.py",
            "from tallybook.records import RecordError, read_invoices\n",
            "from tallybook.records import read_invoices\n",
        ),
        terminal("TALLYBOOK_PORT=8190 python -m tallybook preview data/june.csv --check"),
        terminal("TALLYBOOK_PORT=81x0 python -m tallybook preview data/june.csv --check"),
        terminal("TALLYBOOK_ROWS_PER_PAGE=5 python -m tallybook statement data/june.csv | head -9"),
        terminal("git diff --exit-code tallybook.cfg && python -m tallybook preview data/june.csv --check"),
    )
    talk.agent(
        "TB-153 is fixed in the working tree: TALLYBOOK_PORT=8190 gives http://127.0.0.1:8190/statement, "
        "tallybook.cfg is untouched and 8087 is still the default.\n\n"
        "One thing I can't see from here: the default host is 127.0.0.1, so staging.example.com is "
        "reachable from outside only if the deploy also sets TALLYBOOK_HOST. Does it? Going back to TB-147 "
        "meanwhile.",
        todo(_PARKED[0], ("6", "TB-147: next_number beyond 999", "in_progress"), ("7", _PARKED[2][1], "completed")),
    )


def _finish_numbering(talk: Conversation) -> None:
    talk.user("It does, TALLYBOOK_HOST=0.0.0.0 is set there. Go on with the numbers.", after_minutes=2)
    talk.agent(
        "",
        patch(
            "tallybook/numbering.py",
            "    newest = max(taken)\n    return format_number(year, running_part(newest) + 1)\n",
            "    highest = max(running_part(number) for number in taken)\n"
            "    return format_number(year, highest + 1)\n",
        ),
        terminal("python -m pytest tests/test_numbering.py"),
        terminal("python -m tallybook next-number data/june.csv --year 2025"),
    )
    talk.agent(
        "INV-2025-1007. One more case: `running_part` now sees every number of the year, so one that is no "
        "number raises, where before it raised only if it came last in the order of text. Does anything "
        "pass such numbers?",
        terminal("python -c \"from tallybook import next_number; "
                 "print(next_number(['INV-2025-007', 'INV-2025-00x'], 2025))\" 2>&1 | tail -1"),
        terminal("cut -d, -f1 data/june.csv | grep -v -E '^INV-[0-9]{4}-[0-9]{3,}$'"),
        terminal("grep -rn 'draft' tallybook data tests"),
    )
    talk.agent(
        "Only the header line of the CSV isn't a number, and nothing in the code knows drafts, so no "
        "caller passes one. I keep the error: skipping what can't be read could give out a number twice, "
        "which is the very fault of this ticket.",
        terminal("python -m pytest"),
        todo(_PARKED[0], ("6", "TB-147: next_number beyond 999", "completed"), ("7", _PARKED[2][1], "completed")),
    )
    talk.agent(
        "TB-147: the highest running number is now found as a number, `next-number` for June says "
        "INV-2025-1007, formats and existing invoices are as they were. 4 new tests. Everything is green "
        "apart from the page test that was red from the start. Nothing is committed yet.",
    )
