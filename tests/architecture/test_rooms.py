"""What import-linter can't see of the layout: which parts of SQLAlchemy a room may use, and that names are unique."""
from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent.parent / "sessionstore"
MODULES = sorted(PACKAGE.rglob("*.py"))
ALLOWED_OUTSIDE_STORAGE = {"Connection", "IntegrityError", "DBAPIError", "StatementError"}


def names_from_sqlalchemy(path: Path) -> set[str]:
    """Every name that a module takes from SQLAlchemy."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sqlalchemy":
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names if alias.name.split(".")[0] == "sqlalchemy")
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_storage_builds_statements(path: Path) -> None:
    """Other rooms know a connection and the errors of a driver, nothing that SQL could be made of."""
    if path.relative_to(PACKAGE).parts[0] != "storage":
        assert names_from_sqlalchemy(path) <= ALLOWED_OUTSIDE_STORAGE


def test_module_names_are_unique_across_the_tree() -> None:
    names = Counter(path.stem for path in MODULES if path.stem not in ("__init__", "__main__"))
    assert [name for name, count in names.items() if count > 1] == []


def test_every_public_function_and_class_is_documented() -> None:
    """A stranger reads one sentence first; names that begin with an underscore are nobody's but their file's."""
    missing = []
    for path in MODULES:
        if path.relative_to(PACKAGE).parts[0] == "aio":
            continue  # its docstrings are those of the sync front, which a test of its own compares
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if ast.get_docstring(tree) is None and path.stem != "__main__":
            missing.append(f"{path.relative_to(PACKAGE)}: the module")
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                missing.extend(f"{path.relative_to(PACKAGE)}: {name}" for name in undocumented(node))
    assert missing == []


def undocumented(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    """Names of a public thing, and of its public methods, that have no docstring."""
    names = [] if ast.get_docstring(node) else [node.name]
    if isinstance(node, ast.ClassDef):
        names += [
            f"{node.name}.{part.name}"
            for part in node.body
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
            and not part.name.startswith("_")
            and ast.get_docstring(part) is None
        ]
    return names
