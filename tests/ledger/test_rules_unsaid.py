"""Rules that no *must* and no *never* marks, and sentences that have such a word and are no rule, in several languages."""
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
        "Nothing spicy for the kids.",
        "Nothing with walnuts, my aunt would notice.",
        "Nobody restarts the press.",
        "No phone calls during lunch, please.",
        "No visits after 18:00 please.",
        "My mother doesn't want visitors on Sunday.",
        "He won't eat mushrooms.",
        "Pas de sucre dans le café.",
        "Plus de réunions après 18h.",
        "Nada de llamadas después de las nueve.",
        "No podemos gastar más de 900 euros.",
        "Niente carne, per favore.",
        "Nichts mit Nüssen, bitte.",
        "她不吃辣。",
        "個人名は出さないこと。",
    ],
)
def test_a_wish_that_something_be_not_is_a_rule(sentence: str) -> None:
    assert texts(read(("user", f"Hm. {sentence}")), "constraint") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Before you reply, check the spelling.",
        "Whenever you cite a source, give the page.",
        "When you finish a task, end your reply with DONE.",
        "After each chapter, give me a two-line summary.",
        "From here on, amounts are in francs.",
        "If anyone asks, we're still negotiating.",
        "Bevor du antwortest, lies die Mail.",
        "Jedes Mal, wenn du etwas löschst, frag mich.",
        "Avant de répondre, relisez le dossier.",
        "Antes de contestar, consulta conmigo.",
        "Prima di rispondere, chiedimi.",
        "回复之前先给我看。",
    ],
)
def test_a_standing_instruction_is_a_rule(sentence: str) -> None:
    assert texts(read(("user", sentence)), "constraint") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "I'd like the tables with semicolons.",
        "She hates being called by her first name.",
        "Narrate in the second person.",
        "Call me Doctor.",
        "Everything in metric units, please.",
        "Please be brief.",
        "我更喜欢用繁体字写信。",
        "手紙は敬語で書いてほしいです。",
    ],
)
def test_what_somebody_likes_is_a_rule(sentence: str) -> None:
    assert texts(read(("user", sentence)), "constraint") == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Nothing happens when I click the button.",
        "Nothing to add.",
        "No tests are failing.",
        "No luck so far on the train.",
        "No problem at all.",
        "Nobody knows why it fails.",
        "Never mind.",
        "I want to bake this one.",
        "It must have been the proxy.",
        "The culprit must be Haller, let's follow him.",
        "When you're done, run the tests.",
        "Please help me keep the minutes of the meeting.",
        "新しい部屋の準備を手伝ってください。",
    ],
)
def test_what_reports_concludes_or_is_asked_for_once_is_no_rule(sentence: str) -> None:
    assert texts(read(("user", sentence)), "constraint") == []


@pytest.mark.parametrize("answer", ["Don't, it has no room.", "Never, we go round.", "Nah, too heavy."])
def test_a_no_to_what_was_proposed_is_no_rule_and_is_kept_with_it(answer: str) -> None:
    ledger = read(("user", "And now?"), ("assistant", "Well. I would take the bridge."), ("user", answer))
    assert texts(ledger, "constraint") == []
    asked = {entry.text: (entry.seqs, entry.closed_by, entry.outcome) for entry in ledger.of_kind("question")}
    assert asked["I would take the bridge."] == ((1,), 2, answer)


def test_a_rule_behind_a_no_is_a_rule() -> None:
    ledger = read(("user", "And now?"), ("assistant", "I would push it."), ("user", "No, never push to main."))
    assert texts(ledger, "constraint") == ["No, never push to main."]
