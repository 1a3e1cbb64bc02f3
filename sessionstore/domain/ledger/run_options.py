"""What the options of a run say of how much of it there is: a part, nothing at all, or an end that tells of no failure."""
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_CHOOSING: Final = frozenset(
    {"-k", "-m", "-t", "-g", "-run", "--run", "--grep", "--filter", "--tests", "--deselect", "--ignore", "--exclude", "--skip",
     "--testNamePattern", "--testPathPattern", "--test-name-pattern", "--select", "--only", "--project", "--ext"}
)
"""Options that choose a part of what there is, by the value behind them."""
_CHOOSING_ALONE: Final = re.compile(
    r"--?(?:lf|last-failed|sw|stepwise|short|D.*|.*(?:ignore|exclude|skip|select|filter|pattern|only|since|changed|shard|related).*)",
    re.IGNORECASE,
)
"""Options that choose by themselves, or of which it isn't known whether a value follows."""
_PARTS: Final = frozenset({"--package", "--test", "--bin", "--example", "-e"})
"""Options that name what is run; several of them run several."""
_PARTS_ALONE: Final = frozenset({"--lib", "--bins", "--examples", "--benches", "--doc"})
_VALUED: Final = frozenset(
    {"-n", "--maxfail", "--tb", "-p", "-W", "-o", "-c", "-j", "--timeout", "--color", "--durations", "--reporter", "--workers",
     "--jobs", "--cov", "--cov-report", "--rootdir", "--config", "--config-file", "--log-level"}
)
"""Options of checks whose value says how it is run, not what."""
_VALUED_ANYWHERE: Final = frozenset({"-j", "--jobs", "--parallel", "--timeout", "--color", "--log-level"})
_LOUDNESS: Final = frozenset({"--verbose", "--quiet", "--silent", "--debug", "--trace", "--no-color"})
_IDLE: Final = frozenset(
    {"--version", "-v", "--help", "--dry-run", "--dryrun", "--just-print", "--recon", "--what-if", "--whatif", "--simulate",
     "--no-act", "--noop", "--collect-only", "--collectonly", "--co", "--listtests", "--list-tests", "--list", "--fixtures",
     "--markers", "--setup-plan", "--setup-only", "--no-run", "--showconfig", "--show-config", "--show-settings",
     "--show-files", "--print-config", "--env-info", "--init", "--clearcache", "--clear-cache", "--sql", "--plan", "--abort",
     "--quit", "--allow-empty"}
)
"""Options, in small letters, with which a program only tells of itself or of what it would do, or gives up."""
_SMALL_V_IS_VERSION: Final = frozenset({"make", "gradle", "gradlew", "mvn", "jest", "node", "npm"})
_SMALL_N_IS_DRY: Final = frozenset({"make", "ninja", "just", "git push"})
_EXCUSING: Final = frozenset(
    {"--exit-zero", "--no-error", "--passwithnotests", "--pass-with-no-tests", "--continue-on-error", "--if-present",
     "--no-fail", "--ignore-errors"}
)


def runs_nothing(program: str, words: Sequence[str]) -> bool:
    """Whether a program, told so, leaves undone what it is otherwise run for."""
    name = program.partition(" ")[0]
    for place, word in enumerate(words):
        if word == "--":
            return False
        if word == "-v" and name not in _SMALL_V_IS_VERSION:
            continue
        # Elsewhere than at the end it gives many a program the name of a host.
        if word.partition("=")[0].lower() in _IDLE or (word == "-h" and place == len(words) - 1):
            return True
        if {program, name} & _SMALL_N_IS_DRY and re.fullmatch(r"-[A-Za-z]*n[A-Za-z]*", word):
            return True
    return False


def excuses_failure(words: Sequence[str]) -> bool:
    """Whether a program, told so, ends well whatever it finds."""
    return any(word.lower() in _EXCUSING for word in words)


def choice_of_check(rest: Sequence[str], *, program: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """What a check is run on, and by which options only a part of it."""
    targets: list[str] = []
    chosen: set[str] = set()
    words = iter(rest)
    for word in words:
        option, equals, value = word.partition("=")
        if not word.startswith("-"):
            targets.extend([] if word.isdigit() else [word])
        elif option in _CHOOSING:
            chosen.add(f"{option} {value if equals else next(words, '')}")
        elif _CHOOSING_ALONE.fullmatch(option):
            chosen.add(word)
        elif option in _PARTS or (program.startswith("cargo") and option == "-p"):
            targets.append(f"{option} {value if equals else next(words, '')}")
        elif option in _PARTS_ALONE and program.startswith("cargo"):
            targets.append(option)
        elif option in _VALUED and not equals:
            next(words, "")
    if program.startswith("go ") and not targets:
        # Told nothing, it runs the package of the directory and none below.
        return (program,), frozenset(chosen)
    plain = (one if one.startswith("-") else one.removeprefix("./").removesuffix("...").rstrip("/") for one in targets)
    return tuple(one for one in plain if one not in ("", ".")), frozenset(chosen)


def choice_of_deed(rest: Sequence[str], *, program: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """What any other program is told, and its options; in what order doesn't matter."""
    targets: list[str] = []
    options: set[str] = set()
    words = iter(rest)
    for word in words:
        option, equals, _value = word.partition("=")
        if option in _VALUED_ANYWHERE or (program == "git commit" and option in ("-m", "--message", "-am")):
            if not equals:
                next(words, "")
        elif not word.startswith("-") or equals or (program.startswith("cargo") and option in _PARTS_ALONE):
            targets.append(word.removeprefix("./"))
        else:
            options.add(word)
    return tuple(targets), frozenset(options - _LOUDNESS)
