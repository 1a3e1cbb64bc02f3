"""From what somebody has of a session to its tip: ids, titles, parts of ids, namespaces."""
from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessionstore import AmbiguousSessionError, SessionExistsError, SessionNotFoundError, SessionStore, TitleTakenError
from tests.store.conversations import WINDOW, compacted, talk


def with_generations(store: SessionStore, name: str, count: int, *, namespace: str = "", title: str | None = None) -> None:
    """A lineage with so many generations, the cheapest way: by rewinding."""
    session = store.create_session(name, namespace=namespace, title=title)
    session.append([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    for _ in range(count - 1):
        session = session.rewind(0)


def test_every_id_title_and_unique_part_is_the_tip(store: SessionStore) -> None:
    """LIN-1"""
    with_generations(store, "fix-auth-0192", 12, title="Fix auth")
    with_generations(store, "other", 1)
    references = [
        "fix-auth-0192", "fix-auth-0192~2", "fix-auth-0192~11", "fix-auth-0192~12", "Fix auth", "fix", "f", "fix-auth-019",
        "0192", "2", "auth-0192~2", "0192~12", "fix-auth-0192~", "fix-auth-0192~1",
    ]
    assert {reference: store.resume(reference).id for reference in references} == dict.fromkeys(references, "fix-auth-0192~12")
    assert store.lineage("0192~3").tip.session_id == "fix-auth-0192~12"


def test_the_end_of_a_generations_id_alone_is_a_suffix_too(store: SessionStore) -> None:
    """LIN-1: ``~3`` ends one id of the store and no other."""
    with_generations(store, "fix-auth", 3)
    with_generations(store, "other", 2)
    assert store.resume("~3").id == "fix-auth~3"
    with pytest.raises(AmbiguousSessionError):
        store.resume("~2")


@pytest.mark.parametrize(
    "reference",
    [
        "", "~", "nothing", "Fix", "FIX-AUTH", "fix auth", "fix-auth~4", "fix-auth~0", "fix-auth~03", "auth~03", "fix-auth~-1",
        "fix-auth~x", "fix-auth~2~2", "fix-auth~²", "fix-auth~٢", "fix%", "%", "_", "fix_auth", "fix-auth_", "ix-aut",
        "fix-auth ", "fix-auth~99999999999999999999", "auth~99999999999999999999", "~99999999999999999999",
        "fix-auth~" + "9" * 5_000, "a\x00b", "\ud83d", "fix\ud83d", "x" * 100_000, "fix auth #3",
    ],
    ids=lambda reference: repr(reference[:40]),
)
def test_what_is_no_part_of_any_id_is_not_found(store: SessionStore, reference: str) -> None:
    """LIN-1: case counts, ``%`` and ``_`` are letters, a number is the number that is written."""
    with_generations(store, "fix-auth", 3)
    for look_up in (store.resume, store.session, store.lineage):
        with pytest.raises(SessionNotFoundError) as caught:
            look_up(reference)
        assert caught.value.reference == reference


def test_wildcards_in_ids_stand_for_themselves(store: SessionStore) -> None:
    """LIN-1"""
    for name in ("50%-off", "50x-off", "a_b", "axb", "a[b", "a*c"):
        store.create_session(name)
    found = {"50%": "50%-off", "a_": "a_b", "ax": "axb", "%-off": "50%-off", "_b": "a_b", "a[": "a[b", "a*": "a*c", "[b": "a[b"}
    assert {reference: store.resume(reference).id for reference in found} == found


def test_an_ambiguous_part_lists_its_candidates(store: SessionStore) -> None:
    """LIN-1"""
    with_generations(store, "fix-auth", 3)
    with_generations(store, "fix-login", 2)
    with_generations(store, "auth", 2)
    expected = {"fix": ("fix-auth", "fix-login"), "uth": ("auth", "fix-auth"), "uth~2": ("auth", "fix-auth")}
    for reference, candidates in expected.items():
        with pytest.raises(AmbiguousSessionError) as caught:
            store.resume(reference)
        assert caught.value.candidates == candidates
        assert all(candidate in str(caught.value) for candidate in candidates)
    assert store.resume("uth~3").id == "fix-auth~3"
    assert store.resume("auth").id == "auth~2"
    assert store.resume("auth~2").id == "auth~2"


def test_a_part_that_begins_one_id_and_ends_another_is_ambiguous(store: SessionStore) -> None:
    """LIN-1: and one that does both to the same id is not."""
    store.create_session("abc")
    store.create_session("xab")
    store.create_session("nunun")
    with pytest.raises(AmbiguousSessionError):
        store.resume("ab")
    assert store.resume("nun").id == "nunun"


def test_many_candidates_are_cut_at_ten(store: SessionStore) -> None:
    """LIN-1"""
    for number in range(30):
        store.create_session(f"run-{number:02}")
    with pytest.raises(AmbiguousSessionError) as caught:
        store.resume("run")
    assert caught.value.candidates == tuple(f"run-{number:02}" for number in range(10))


def test_an_id_goes_before_a_title_and_a_title_before_a_part(store: SessionStore) -> None:
    """LIN-1"""
    store.create_session("alpha", title="beta")
    store.create_session("beta", title="gam")
    store.create_session("gamma", title="alpha~2")
    assert store.resume("beta").id == "beta"
    assert store.resume("gam").id == "beta"
    assert store.resume("gamm").id == "gamma"
    assert store.resume("alpha~2").id == "gamma"
    store.resume("alpha").append({"role": "user", "content": "x"})
    store.resume("alpha").rewind(0)
    assert store.resume("alpha~2").id == "alpha~2"


def test_a_look_up_never_leaves_its_namespace(store: SessionStore) -> None:
    """LIN-1, SEC-1: by id, part, title and exact session."""
    with_generations(store, "team-a-run", 2, namespace="a", title="Run")
    with_generations(store, "team-b-run", 2, namespace="b", title="Run")
    assert store.resume("run", namespace="a").id == "team-a-run~2"
    assert store.resume("Run", namespace="b").id == "team-b-run~2"
    assert store.resume("team", namespace="b").id == "team-b-run~2"
    assert store.resume("run~2", namespace="b").id == "team-b-run~2"
    with pytest.raises(AmbiguousSessionError):
        store.resume("Run")
    for reference in ("team-b-run", "team-b-run~2", "team-b", "b-run", "b-run~2", "team-b-run~"):
        for look_up in (store.resume, store.session, store.lineage, store.delete):
            with pytest.raises(SessionNotFoundError) as caught:
                look_up(reference, namespace="a")
            assert caught.value.namespace == "a"
        with pytest.raises(SessionNotFoundError):
            store.resume(reference, namespace="")
    with pytest.raises(SessionExistsError):
        store.create_session("team-b-run", namespace="a")


def test_a_title_is_unique_in_its_namespace_and_free_again_after_a_delete(store: SessionStore) -> None:
    """LIN-6: the error names the holder, and nothing of the refused session is there."""
    store.create_session("first", title="Fix auth")
    with pytest.raises(TitleTakenError) as caught:
        store.create_session("second", title="Fix auth")
    assert (caught.value.holder, caught.value.title) == ("first", "Fix auth")
    with pytest.raises(SessionNotFoundError):
        store.session("second")
    store.create_session("third", title="Fix auth", namespace="elsewhere")
    store.create_session("fourth", title="fix auth")
    store.delete("first")
    assert store.create_session("second", title="Fix auth").id == "second"


def test_a_session_whose_id_is_taken_takes_no_title(store: SessionStore) -> None:
    """LIN-6"""
    store.create_session("first")
    with pytest.raises(SessionExistsError):
        store.create_session("first", title="Mine")
    assert store.create_session("second", title="Mine").id == "second"


def test_a_number_in_a_title_is_the_users_own(store: SessionStore) -> None:
    """LIN-6: shown from the generation, never parsed from text and never a name to resolve by."""
    session = store.create_session("issue", title="Issue #42", context_window=WINDOW)
    session.append(talk(30))
    compacted(session)
    (line,) = store.list_sessions()
    assert line.title == "Issue #42 #2"
    assert store.lineage("issue").lineage.title == "Issue #42"
    assert store.resume("Issue #42").id == "issue~2"
    store.create_session("taken", title="Issue #42 #2")
    assert store.resume("Issue #42 #2").id == "taken"
    with pytest.raises(SessionNotFoundError):
        store.resume("Issue")


@pytest.mark.parametrize("name", ["", "a~b", "~", "a\nb", "a\x00", "x" * 201, "\x7f", "\ud83d"], ids=repr)
def test_an_id_that_cannot_be_one_is_refused(store: SessionStore, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be a session id"):
        store.create_session(name)
    assert store.list_sessions() == []


IDS = st.text(st.characters(exclude_characters="~", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=5)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.sets(st.one_of(IDS, st.text("aAéz%_", min_size=1, max_size=4)), min_size=1, max_size=6), data=st.data())
def test_any_part_resolves_as_a_plain_search_says(store: SessionStore, names: set[str], data: st.DataObject) -> None:
    """LIN-1: against the list of ids that begin or end with it."""
    namespace = store.create_session().id
    prefix = namespace[-8:]
    for name in names:
        store.create_session(f"{name}{prefix}{name}", namespace=namespace)
    ids = [f"{name}{prefix}{name}" for name in names]
    chosen = data.draw(st.sampled_from(sorted(ids)))
    size = data.draw(st.integers(1, len(chosen)))
    for part in (chosen[:size], chosen[-size:]):
        expected = sorted(id_ for id_ in ids if id_ == part) or sorted(
            id_ for id_ in ids if id_.startswith(part) or id_.endswith(part)
        )
        if len(expected) == 1:
            assert store.resume(part, namespace=namespace).id == expected[0]
        else:
            with pytest.raises(AmbiguousSessionError) as caught:
                store.resume(part, namespace=namespace)
            assert list(caught.value.candidates) == expected
