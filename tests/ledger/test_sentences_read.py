"""Where a sentence ends, what a list under a rule says, and what was chosen rather than weighed, in several languages."""
from __future__ import annotations

import pytest

from sessionstore.domain.ledger import FactKind, Ledger, extract_ledger
from tests.ledger.dialects import DIALECTS, Turn, entries


def read(*turns: Turn) -> Ledger:
    return extract_ledger(entries(DIALECTS["chat"](turns)))


def texts(ledger: Ledger, kind: FactKind) -> list[str]:
    return [entry.text for entry in ledger.of_kind(kind)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Never phone Dr. Abel before 9:00.",
        "Never cite Hart v. Lowe, 8 F.2d 41 (3rd Cir. 1999), in a brief.",
        "Nach Art. 7 Abs. 2 darf niemand die Akte kopieren.",
        "Der Vertrag darf nicht vor dem 4. Oktober verschickt werden.",
        "Never mail J. R. Poole about it.",
    ],
)
def test_a_dot_after_an_abbreviation_an_initial_or_a_day_ends_no_sentence(sentence: str) -> None:
    assert texts(read(("user", f"{sentence} Thanks.")), "constraint") == [sentence]


def test_an_item_of_a_list_stands_behind_the_words_without_which_it_would_say_the_opposite() -> None:
    ledger = read(("user", "Please don't:\n- merge the release branch\n- email the vendor\nThanks for that."))
    assert texts(ledger, "constraint") == ["Please don't: merge the release branch", "Please don't: email the vendor"]


@pytest.mark.parametrize("introduction", ["House rules:", "Rules for the annual report:", "Vorgaben:", "Requisitos:", "要求："])
def test_what_is_listed_as_a_rule_binds_though_nothing_in_it_says_so(introduction: str) -> None:
    assert texts(read(("user", f"{introduction}\n- A5, portrait")), "constraint") == [f"{introduction} A5, portrait"]


def test_a_list_under_words_that_bind_nothing_is_left_as_it_is() -> None:
    assert texts(read(("user", "I looked at these:\n- the kitchen\n- the hall")), "constraint") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Hands off the archive until Tuesday.",
        "The seating plan is not to be shown to the guests.",
        "Nobody outside the board sees the draft.",
        "On no account restart the mixer.",
        "Finger weg von der Lohnliste!",
        "Hay que avisar a Rosa.",
        "Los contratos no se copian bajo ningún concepto.",
        "Il est hors de question de changer la serrure.",
        "严禁复制合同。",
    ],
)
def test_a_rule_is_known_by_the_words_of_people_who_write_no_must(sentence: str) -> None:
    assert texts(read(("user", sentence)), "constraint") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "For the roof I went with slate over tiles since it lasts.",
        "I'm sticking with the smaller hall.",
        "Ich nehme die Fähre am Morgen, weil sie billiger ist.",
        "Opté por la sala pequeña porque es más barata.",
        "我选了第二个方案。",
    ],
)
def test_what_the_assistant_chose_in_passing_is_a_decision(sentence: str) -> None:
    assert texts(read(("user", "Go on."), ("assistant", sentence)), "decision") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "You could use slate instead of tiles here.",
        "If you decided to leave, tell the others.",
        "I haven't decided on the hall yet.",
        "Noch ist nichts entschieden, sagt sie.",
        "还没有决定用哪一个方案。",
    ],
)
def test_what_is_only_weighed_is_no_decision(sentence: str) -> None:
    assert texts(read(("user", "And?"), ("assistant", sentence)), "decision") == []
