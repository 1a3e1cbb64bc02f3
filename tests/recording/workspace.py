"""A temporary folder with the sample project under git, and the commands that may run in it.

Commands see a search path with nothing but the programs listed here, so that "command not found" is the same answer
on every machine, and an environment without the machine's locale, git settings or pytest plug-ins. What still tells
one machine or run from another (paths, durations, versions, addresses in memory) is replaced in the output.
"""
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .project_files import PROJECT_FILES

PROJECT_FOLDER = "/home/dev/tallybook"
"""What the recorded agent takes for the project's folder."""

PROGRAMS = ("bash", "cat", "cut", "diff", "find", "git", "grep", "head", "ls", "rm", "sed", "sort", "tail", "uniq", "wc")
COMMAND_SECONDS = 60
_GIT_SETTINGS = """[user]
name = tallybook dev
email = dev@example.com
[init]
defaultBranch = main
[core]
abbrev = 7
pager = cat
[color]
ui = false
"""
_HISTORY = (
    ("2025-02-11T10:20:00+00:00", "Add invoices, lines and tax", (
        ".gitignore", "README.md", "pyproject.toml", "tallybook/invoice.py", "tallybook/money.py", "tallybook/tax.py",
        "tests/test_invoice.py", "tests/test_money.py", "tests/test_tax.py",
    )),
    ("2025-04-02T15:41:00+00:00", "Cut statements into pages, read settings from the environment (0.3.0)", (
        "tallybook", "tallybook.cfg", "tests",
    )),
    ("2025-05-19T08:05:00+00:00", "Add preview --check (0.3.1)", (".",)),
)
_VERSION_LINE = re.compile(r"Python \d+\.\d+\.\d+\S*, pytest-[\w.]+, pluggy-[\w.]+")
_REPLACEMENTS = (
    (_VERSION_LINE, "Python 3.11.9, pytest-8.3.5, pluggy-1.6.0"),
    (re.compile(r"^Python \d+\.\d+\.\d+\S*$", re.MULTILINE), "Python 3.11.9"),
    (re.compile(r"^(platform) \w+ --", re.MULTILINE), r"\1 linux --"),
    (re.compile(r"lib/python3\.\d+"), "lib/python3.11"),
    (re.compile(r"\bin \d+\.\d\ds\b"), "in 0.14s"),
    (re.compile(r"\b0x[0-9a-f]{8,16}\b"), "0x7f3a5c0d1e30"),
)


@dataclass(frozen=True)
class CommandResult:
    """What a command printed, both streams as they came, and its exit status."""

    output: str
    exit_status: int


class Workspace:
    """The sample project in a folder of its own, with three commits of history."""

    def __init__(self, scratch: Path) -> None:
        """Write the project below ``scratch``, an existing empty folder, and commit it."""
        scratch = scratch.resolve()
        self.root = scratch / "project"
        self._programs = scratch / "bin"
        self._home = scratch / "home"
        self._temporary = scratch / "tmp"
        for folder in (self.root, self._programs, self._home, self._temporary):
            folder.mkdir()
        for program in PROGRAMS:
            found = shutil.which(program)
            if found is None:
                raise FileNotFoundError(f"recording needs the program {program!r}; install it and record again")
            (self._programs / program).symlink_to(found)
        python = self._programs / "python"
        python.write_text(f'#!{shutil.which("bash")}\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        (self._home / ".gitconfig").write_text(_GIT_SETTINGS, encoding="utf-8")
        for path, text in PROJECT_FILES.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        self.run("git init --quiet", _HISTORY[0][0])
        for moment, subject, paths in _HISTORY:
            self.run(f"git add {' '.join(paths)} && git commit --quiet -m '{subject}'", moment)

    def run(self, command: str, moment: str) -> CommandResult:
        """Run a line of bash in the project; ``moment`` (ISO 8601) is the date of commits that it makes."""
        environment = {
            "PATH": str(self._programs), "HOME": str(self._home), "TMPDIR": str(self._temporary),
            "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "80", "GIT_CONFIG_NOSYSTEM": "1", "GIT_DEFAULT_HASH": "sha1",
            "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0",
            "PYTHONUNBUFFERED": "1",
        }
        finished = subprocess.run(
            ["bash", "-c", command], cwd=self.root, env=environment, timeout=COMMAND_SECONDS, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", errors="replace",
        )
        return CommandResult(self._portable(finished.stdout), finished.returncode)

    def _portable(self, output: str) -> str:
        # The interpreter's own folders come after the project's, the longest first: one may contain the other.
        folders = {str(self.root): PROJECT_FOLDER, str(self._home): "/home/dev"}
        python_folders = {sys.executable: "/usr/bin/python3", sys.prefix: "/usr", sys.base_prefix: "/usr"}
        for replaced in (folders, python_folders):
            for folder in sorted(replaced, key=len, reverse=True):
                if folder != os.sep:
                    output = output.replace(folder, replaced[folder])
        for pattern, replacement in _REPLACEMENTS:
            output = pattern.sub(replacement, output)
        return output
