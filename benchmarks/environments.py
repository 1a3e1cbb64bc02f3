"""Virtual environments of the peers, each of its own, made when they are first asked for."""
from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.settings import cache_folder


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment that is ready, or why it is not."""

    python: Path | None
    problem: str | None = None


def environment(name: str, requirements: tuple[str, ...]) -> Installed:
    """The interpreter of an environment with these packages; a failed installation is told, not raised."""
    folder = cache_folder() / "peers" / name
    python = folder / "bin" / "python"
    ready = folder / "ready"
    wanted = "\n".join(requirements)
    if ready.exists() and ready.read_text() == wanted:
        return Installed(python)
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True)
    done = _pip(python, *requirements)
    if done is not None:
        return Installed(None, done)
    ready.write_text(wanted)
    return Installed(python)


def library(name: str, requirement: str) -> Path | None:
    """A folder to put on ``sys.path`` that holds a package without dependencies; None when it can't be had."""
    folder = cache_folder() / "libraries" / name
    if not folder.exists() and _pip(Path(sys.executable), "--no-deps", "--target", str(folder), requirement) is not None:
        return None
    return folder


def source_archive(requirement: str) -> Path | None:
    """The source archive of a package, for the data that its wheel leaves out; None when it can't be had."""
    folder = cache_folder() / "sources"
    name = requirement.partition("==")[0].replace("-", "_")
    if not list(folder.glob(f"{name}-*.tar.gz")):
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "--dest", str(folder)]
        subprocess.run([*command, requirement], check=False, capture_output=True)
    return next(iter(sorted(folder.glob(f"{name}-*.tar.gz"))), None)


def versions(python: Path, packages: tuple[str, ...]) -> str:
    """Names and versions of packages in an environment."""
    code = "import sys, importlib.metadata as m; print(', '.join(f'{p} {m.version(p)}' for p in sys.argv[1:]))"
    done = subprocess.run([str(python), "-c", code, *packages], check=False, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def _pip(python: Path, *arguments: str) -> str | None:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, "PIP_NO_INPUT": "1"})
    if done.returncode == 0:
        return None
    return next((line for line in reversed(done.stderr.splitlines()) if line.startswith("ERROR")), "pip failed")
