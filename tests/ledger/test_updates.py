"""Changes that are worded in any way: what they change is gone or stands beside them, and what they don't change stays."""
from __future__ import annotations

import pytest

from sessionstore.domain.ledger import Ledger, extract_ledger, render_facts
from sessionstore.domain.ledger.updates import MOST_COMPARED, Said, find_updates
from tests.counters import PieceCounter
from tests.ledger.dialects import DIALECTS, Turn, entries

FILLER: list[Turn] = [
    ("user", "Is the ferry on time?"), ("assistant", "It is."), ("user", "Read the log."), ("assistant", "Read."),
]


def read(*messages: str) -> Ledger:
    turns: list[Turn] = []
    for message in messages:
        turns += [("user", message), ("assistant", "All right."), *FILLER]
    return extract_ledger(entries(DIALECTS["chat"](turns)))


def told(ledger: Ledger) -> str:
    return "\n".join(render_facts(ledger, budget=4_000, counter=PieceCounter()).values())


@pytest.mark.parametrize(
    ("first", "second", "old"),
    [
        ("The ferry leaves at 7:40.", "Correction from the harbour: not 7:40 but 8:25.", "The ferry leaves"),
        ("Kowalski steers tonight.", "Lindqvist takes over the helm from Kowalski.", "Kowalski steers"),
        ("Give the pump 30 bar.", "That leaks. Lower it to 18 bar.", "Give the pump"),
        ("We need 40 lamps.", "Not enough, order 65 lamps.", "We need 40"),
        ("We moor at berth 12.", "They've moved us to berth 31.", "We moor at"),
        ("Die Probe ist in Rostock.", "Die Probe ist jetzt in Wismar.", "in Rostock."),
        ("Bestell die Taue für 14:00 Uhr.", "Lieber 15:30 Uhr statt 14:00 Uhr.", "Bestell die Taue"),
        ("Le départ est à 9h15.", "Repoussez plutôt à 10h45.", "Le départ est"),
        ("El timonel es Ferrer.", "Al final no es Ferrer, sino Robledo.", "El timonel es"),
        ("起航定在9:30。", "还是改成11:45吧。", "起航定在9:30"),
    ],
)
def test_a_value_that_was_changed_in_any_words_is_not_told_as_the_current_one(first: str, second: str, old: str) -> None:
    text = told(read(first, second))
    assert second.rstrip("。.").rsplit(" ", 1)[-1] in text
    assert all("→" in line for line in text.splitlines() if old in line)


@pytest.mark.parametrize(
    ("rule", "lifted"),
    [
        ("Leave the flares out of the list.", "You know what, flares are fine too."),
        ("No smoking on the pier.", "The harbour master lifted that, smoking on the pier is allowed."),
        ("Avoid the north channel while it is dredged.", "Dredging is over, you're free to take the north channel."),
        ("Keine Gäste an Bord, bitte.", "Gäste sind jetzt doch in Ordnung."),
        ("请不要使用旧海图。", "现在可以使用旧海图了。"),
    ],
)
def test_a_rule_that_was_lifted_is_told_with_what_lifted_it(rule: str, lifted: str) -> None:
    text = told(read(rule, lifted))
    assert lifted.rstrip("。.") in text
    assert all("→ changed later:" in line for line in text.splitlines() if rule in line)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Kowalski gets the 30 kg anchor.", "Lindqvist gets the 45 kg anchor now."),
        ("The bow tank holds 400 litres.", "The stern tank now holds 700 litres."),
        ("Don't paint on Sundays.", "You can paint on Mondays again."),
        ("Never open the sea valve.", "You can see the sea valve from the deck."),
        ("Hotel in Ystad: 120 € a night.", "Hotel in Malmö: 180 € a night now."),
        ("Use lamp 4 for the mast.", "I'd rather you used lamp 5 for the stern."),
        ("We need 40 lamps.", "Thanks, that works again. Can we get 65 ropes?"),
    ],
)
def test_what_is_about_something_else_changes_nothing(first: str, second: str) -> None:
    assert "changed later" not in (text := told(read(first, second)))
    assert first.rstrip(".") in text


def test_what_else_a_changed_sentence_says_is_not_lost() -> None:
    """NEST-2: only the time is new, so the sentence stands with what changed it."""
    text = told(read("Book the diver for 10:35 on Friday please.", "Actually make it 14:20, not 10:35."))
    assert "Book the diver for 10:35 on Friday please. → changed later: Actually make it 14:20, not 10:35. #" in text


def test_a_change_of_a_change_leaves_the_last_one() -> None:
    text = told(read("Give the pump 30 bar.", "Lower it to 18 bar.", "Raise it to 22 bar."))
    assert [value for value in ("30 bar", "18 bar", "22 bar") if value in text] == ["22 bar"]


def test_a_change_that_stays_behind_the_summary_is_heard_too() -> None:
    turns: list[Turn] = [("user", "Give the pump 30 bar."), ("assistant", "Done."), *FILLER, ("user", "Lower it to 18 bar.")]
    rows = entries(DIALECTS["chat"](turns))
    assert "30 bar" not in told(extract_ledger(rows[:-1], following=rows[-1:]))


def test_no_more_is_compared_than_the_newest_sentences() -> None:
    lamps = [Said(f"Lamp {number} is lit.", number) for number in range(1, 2 * MOST_COMPARED)]
    olds = [Said("The pump has 30 bar.", 0), *lamps]
    change = Said("Lower the pump to 18 bar.", 10_000)
    assert list(find_updates(olds, [[[change]]])) == []
    assert [update.old for update in find_updates(olds[:MOST_COMPARED], [[[change]]])] == [olds[0]]
