"""Operations that read: what they find is kept for the checks."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sessionstore import SessionStore
from tests.cases.running import CaseFailed, CaseRun, need

Step = Mapping[str, Any]

_SHORTEST_PART: Final = 2


def render(run: CaseRun, _step: Step) -> None:
    """Render once more; the rendering is a load too."""
    run.renders.append(run.load().messages)


def meter(run: CaseRun, _step: Step) -> None:
    """Measure the context."""
    run.pressures.append(run.session.pressure(run.policy))


def load(run: CaseRun, step: Step) -> None:
    """Render the session held, or that of a branch."""
    run.load(step.get("branch"))


def load_raw_lineage(run: CaseRun, _step: Step) -> None:
    """Read the whole log."""
    run.raw_loads.append(run.log())


def resume(run: CaseRun, step: Step) -> None:
    """Resume by some name of the lineage."""
    if "of" in step:
        run.resumes.append(run.store.resume(_named(run, step["of"])))
        return
    ids = [one.session_id for one in run.store.lineage(run.root_id).sessions]
    by = step.get("by")
    if by == "middle_id":
        if len(ids[1:-1]) < 1:
            raise CaseFailed(f"there is no generation in the middle of {ids}")
        run.resumes.append(run.store.resume(ids[len(ids) // 2]))
        return
    names: dict[Any, Callable[[], str]] = {
        "root_id": lambda: run.root_id,
        "tip_id": lambda: ids[-1],
        "title": lambda: str(run.case.options["title"]),
        "prefix": lambda: unique_parts(run)[0],
        "suffix": lambda: unique_parts(run)[1],
    }
    if by not in names:
        raise CaseFailed(f"resume knows no way {by!r}")
    run.resumes.append(run.store.resume(names[by]()))


def lineage(run: CaseRun, step: Step) -> None:
    """Trace the lineage, or that of a fixture's session."""
    run.traces.append(run.store.lineage(_named(run, step["of"]) if "of" in step else run.root_id))


def expand_summary(run: CaseRun, _step: Step) -> None:
    """Expand every summary of the lineage."""
    run.expansions = {row.seq: run.session.expand(row.seq) for row in run.log() if row.kind == "summary"}


def export(run: CaseRun, step: Step) -> None:
    """Export the conversation as text."""
    run.exports.append("".join(run.store.export(run.root_id, format=step.get("format", "jsonl"))))


def import_export(run: CaseRun, _step: Step) -> None:
    """Export the lineage with its state, import it into an empty store, and go on there."""
    text = "".join(run.store.export(run.root_id, format="jsonl", lineage=True))
    run.exports.append(text)
    run.store.close()
    run.url = run.databases.new()
    run.store = run.open_store()
    run.report = run.store.import_lines(text.splitlines(), format="jsonl")
    session = run.store.resume(run.root_id)
    run.main.session, run.main.held = session, session.context()


def search(run: CaseRun, step: Step) -> None:
    """Search the lineage."""
    run.hits = list(need(run.store, "search")(step["text"], lineage=run.root_id))


def doctor(run: CaseRun, step: Step) -> None:
    """Let the doctor look, and repair where the step says so."""
    run.findings = examine(run.store, repair=bool(step.get("repair", False)))


def examine(store: SessionStore, *, repair: bool = False) -> list[Any]:
    """The doctor's findings."""
    report = need(store, "doctor")(repair=repair)
    return list(getattr(report, "findings", report))


def unique_parts(run: CaseRun) -> tuple[str, str]:
    """The shortest beginning and the shortest end of the root id that no other conversation's id or title has."""
    listed = run.store.list_sessions(limit=10_000)
    others = [one.lineage_id for one in listed if one.lineage_id != run.root_id]
    titles = [one.title for one in listed if one.title]
    lengths = range(_SHORTEST_PART, len(run.root_id) + 1)

    def free(part: str) -> bool:
        return part not in titles and not any(other.startswith(part) or other.endswith(part) for other in others)

    prefix = next((run.root_id[:length] for length in lengths if free(run.root_id[:length])), run.root_id)
    suffix = next((run.root_id[-length:] for length in lengths if free(run.root_id[-length:])), run.root_id)
    return prefix, suffix


def _named(run: CaseRun, name: str) -> str:
    return run.aliases.get(name, name)


READING: Final[Mapping[str, Callable[[CaseRun, Step], None]]] = {
    "render": render,
    "meter": meter,
    "load": load,
    "load_raw_lineage": load_raw_lineage,
    "resume": resume,
    "lineage": lineage,
    "expand_summary": expand_summary,
    "export": export,
    "import_export": import_export,
    "search": search,
    "doctor": doctor,
}
