"""The documents say what is so: their examples run, their links lead somewhere, and every command is in the README or its
help."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def blocks(path: Path, language: str) -> list[str]:
    """The fenced blocks of a document in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SESSIONSTORE_DB": f"sqlite:///{folder}/default.db", "NO_COLOR": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_examples_run_as_they_stand(path: Path, tmp_path: Path) -> None:
    for example in blocks(path, "python"):
        for _ in range(2 if path == ROOT / "README.md" else 1):  # a reader tries it again, on the file it made
            done = run([sys.executable, "-W", "error", "-c", example], tmp_path)
            assert done.returncode == 0, f"{example}\n{done.stderr}"


def test_the_commands_of_the_readme_run_as_they_stand(tmp_path: Path) -> None:
    """Those of sessionstore; the two that install and test are run by .ci/run."""
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    commands = [line for block in blocks(ROOT / "README.md", "sh") for line in block.splitlines()]
    ours = [line for line in commands if line.startswith("sessionstore ")]
    assert len(ours) >= 5
    for line in ours:
        done = run([sys.executable, "-m", *line.split()], tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert done.stdout.strip(), line


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_the_ci_script_finds_both_commands_in_the_readme() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for mark, command in (("try", "pip install -e '.[dev]' && sessionstore demo"), ("test", "pytest -n auto")):
        assert f"<!-- ci: {mark} -->\n```sh\n{command}\n```" in text
