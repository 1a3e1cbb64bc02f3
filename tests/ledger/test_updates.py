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
    assert all("→ later:" in line for line in text.splitlines() if rule in line)


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
    assert "→ later:" not in (text := told(read(first, second)))
    assert first.rstrip(".") in text


def test_what_else_a_changed_sentence_says_is_not_lost() -> None:
    """NEST-2: only the time is new, so the sentence stands with what changed it."""
    text = told(read("Book the diver for 10:35 on Friday please.", "Actually make it 14:20, not 10:35."))
    assert "Book the diver for 10:35 on Friday please. → later: Actually make it 14:20, not 10:35. #" in text


def test_a_name_that_the_change_doesnt_repeat_is_not_lost() -> None:
    """NEST-2: only the time is new."""
    change = Said("Actually book it for 11:20, not 10:35.", 5)
    (update,) = find_updates([Said("Book Ana for 10:35.", 0)], [[[change]]])
    assert not update.whole


def test_a_change_of_a_change_stands_with_the_last_one() -> None:
    text = told(read("Give the pump 30 bar.", "Lower it to 18 bar.", "Raise it to 22 bar."))
    assert "Give the pump 30 bar. → later: Lower it to 18 bar." in text
    assert "Lower it to 18 bar. → later: Raise it to 22 bar." in text


def test_a_change_that_stays_behind_the_summary_is_heard_too() -> None:
    turns: list[Turn] = [("user", "Give the pump 30 bar."), ("assistant", "Done."), *FILLER, ("user", "Lower it to 18 bar.")]
    rows = entries(DIALECTS["chat"](turns))
    ledger = extract_ledger(rows[:-1], following=rows[-1:])
    assert "Give the pump 30 bar. → later: Lower it to 18 bar." in told(ledger)
    again = extract_ledger(rows, previous=ledger)
    assert extract_ledger(rows, previous=again).entries == again.entries


def test_no_more_is_compared_than_the_newest_sentences() -> None:
    lamps = [Said(f"Lamp {number} is lit.", number) for number in range(1, 2 * MOST_COMPARED)]
    olds = [Said("The pump has 30 bar.", 0), *lamps]
    change = Said("Lower the pump to 18 bar.", 10_000)
    assert list(find_updates(olds, [[[change]]])) == []
    assert [update.old for update in find_updates(olds[:MOST_COMPARED], [[[change]]])] == [olds[0]]


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        ("Keep uploads under 50 MB.", "Raise the memory limit to 512 MB."),
        ("Never use port 8080.", "Change the dev server to port 3000."),
        ("Sessions must expire after 30 minutes.", "Try again in 5 minutes."),
        ("Answer in English.", "Now change the label in Save."),
        ("The data must stay in Germany.", "Now rename it to Foo."),
        ("Coverage must stay above 90%.", "Reduce the zoom to 80%."),
        ("Don't deploy on Fridays.", "The Thursday deploy moved to Tuesday."),
        ("Don't modify config.yml.", "Put the key in settings.yml instead of config.yml."),
        ("No nuts: Maria is allergic.", "It's okay for Maria to come again."),
        ("Don't touch the migrations.", "It's fine to edit the seeds folder."),
        ("Pick up the kids at 16:10.", "Make the coffee at 16:30 now."),
    ],
)
def test_a_rule_is_never_hidden_by_what_is_about_something_else(rule: str, later: str) -> None:
    """NEST-2: of two faults, showing what no longer holds and hiding what does, the second is the worse one."""
    text = told(read(rule, later))
    assert rule in text
    assert "→ later:" not in text


def test_a_change_of_one_thing_closes_nothing_more_in_the_next_generation() -> None:
    """NEST-2: it is heard when it stands behind a summary, and read again when it goes into the next."""
    first = "The doctor is at 9:30. " + "She asked for the papers of last year, all of them, in the order of their dates. " * 4
    rows = entries(DIALECTS["chat"]([
        ("user", first), ("assistant", "Noted."), ("user", "The tax office closes at 12:00."), ("assistant", "Noted."),
        ("user", "Pick up the kids at 16:10."), ("assistant", "Noted."), ("user", "Make it 16:30."), ("assistant", "Done."),
    ]))  # fmt: skip
    ledger = extract_ledger(rows[:6], following=rows[6:])
    for _ in range(3):
        ledger = extract_ledger(rows, previous=ledger)
        text = told(ledger)
        assert "The tax office closes at 12:00. → " not in text
        assert "Pick up the kids at 16:10. → later: Make it 16:30." in text
        assert "9:30" in text


def test_many_changes_cost_in_proportion() -> None:
    """A message is compared with no more sentences however many came before."""
    looked_at: list[int] = []

    class Counted(Said):
        @property
        def kinds(self) -> dict[str, frozenset[str]]:
            looked_at.append(self.seq)
            return super().kinds

    seen: list[int] = []
    for count in (400, 800):
        looked_at.clear()
        olds = [Counted(f"Thing {number} has {number} bar.", 2 * number) for number in range(count)]
        news = [[[Counted(f"Now lower mast {number} to {number + 1} knots.", 2 * number + 1)]] for number in range(count)]
        assert list(find_updates(olds, news)) == []
        seen.append(len(looked_at))
    # Twice as many, each compared with the 200 before it: 2.3 times as much, and not 4 times.
    assert seen[1] < 2.6 * seen[0]
