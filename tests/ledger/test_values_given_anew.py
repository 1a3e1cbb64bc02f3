"""What a later message gives anew, allows again or corrects goes; what only sounds alike stays."""
from __future__ import annotations

import pytest

from sessionstore.domain.ledger import Ledger, extract_ledger
from tests.ledger.dialects import DIALECTS, Turn, entries


def read(*said: str) -> Ledger:
    turns: list[Turn] = []
    for text in said:
        turns += [("user", text), ("assistant", "Noted.")]
    return extract_ledger(entries(DIALECTS["chat"](turns)))


def standing(ledger: Ledger) -> list[str]:
    return [entry.text for entry in ledger.of_kind("constraint", "statement") if entry.closed_by is None]


@pytest.mark.parametrize(
    ("rule", "permission"),
    [
        ("Don't touch the file rates.ini.", "You can edit rates.ini again."),
        ("Don't water the plants on Sundays.", "Watering the plants on Sundays is fine again."),
        ("Nicht an die Tabelle lager gehen.", "An die Tabelle lager darfst du jetzt wieder."),
        ("No toques la carpeta impuestos.", "Ya puedes tocar la carpeta impuestos."),
        ("不要修改 rates.ini。", "现在可以修改 rates.ini 了。"),
    ],
)
def test_a_prohibition_that_was_lifted_is_gone_and_the_permission_stands(rule: str, permission: str) -> None:
    assert standing(read(rule, permission)) == [permission]


@pytest.mark.parametrize(
    ("rule", "other"),
    [
        ("Don't touch the file rates.ini.", "You can edit costs.ini again."),
        ("Don't water the plants on Sundays.", "You can water the plants on Mondays again."),
        ("Don't touch the file rates.ini.", "You can see in rates.ini what it costs."),
    ],
)
def test_a_permission_for_something_else_lifts_nothing(rule: str, other: str) -> None:
    assert rule in standing(read(rule, other))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Der Bus nach Trier fährt um 9:14.", "Der Bus nach Trier fährt jetzt um 10:02."),
        ("Das Budget für die Küche beträgt 4000 Euro.", "Das Budget für die Küche beträgt nun 5500 Euro."),
        ("Die Frist ist der 3. Mai.", "Korrektur: Die Frist ist der 9. Mai."),
        ("El presupuesto es de 300 €.", "Corrección: el presupuesto es de 450 €."),
        ("端口是8080。", "端口改成9090了。"),
        ("截止日期是5月3日。", "截止日期改为5月9日。"),
        ("The ferry leaves on 4 June.", "Change of plan, the ferry leaves on 9 June."),
        ("The printer listens on 10.0.0.7:9100.", "I moved things: the printer listens on 10.0.0.9:9200 as of today."),
    ],
)
def test_a_new_value_is_known_in_any_language(older: str, newer: str) -> None:
    assert standing(read(older, newer)) == [newer]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Der Bus nach Trier fährt um 9:14.", "Der Bus nach Mainz fährt um 10:02."),
        ("The Trier bus is on 4 June.", "The Mainz bus is on 9 June."),
        ("Column A is in EUR.", "Column B is in USD."),
        ("Hotel in Trier: at most 120 € a night.", "Hotel in Mainz: at most 180 € a night."),
        ("网关A的端口是8080。", "网关B的端口是9090。"),
        ("网关11的端口是8080。", "网关12的端口是9090。"),
    ],
)
def test_two_values_of_two_things_both_stay(older: str, newer: str) -> None:
    assert standing(read(older, newer)) == [older, newer]


@pytest.mark.parametrize(
    ("first", "correction", "wrong", "right"),
    [
        ("Here: https://a.example/board/1?x=2", "Typo, https://a.example/board/7?x=2 of course", "board/1?x=2", "board/7?x=2"),
        ("Put it under s3://acme-cold/out", "No, I meant s3://acme-warm/out", "acme-cold", "acme-warm"),
        ("Book it for 4 June", "Sorry, I meant 5 June", "4 June", "5 June"),
    ],
)
def test_a_corrected_name_or_value_is_not_told_any_more(first: str, correction: str, wrong: str, right: str) -> None:
    open_ones = [entry.text for entry in read(first, correction).of_kind("reference") if entry.closed_by is None]
    assert any(right in text for text in open_ones)
    assert not any(wrong in text for text in open_ones)


def test_corrections_of_several_things_replace_what_each_corrects_and_not_one_another() -> None:
    older = [f"Die Frist für Los {lot} ist der {lot}.08.2031." for lot in range(4, 8)]
    newer = [f"Korrektur: Die Frist für Los {lot} ist jetzt der {lot + 10}.09.2031." for lot in range(4, 8)]
    assert standing(read(*older, *newer)) == newer


def test_a_call_to_attention_is_no_subject() -> None:
    rules = [f"Ojo: los correos de {name} no se copian bajo ningún concepto." for name in ("Ana", "Luis")]
    assert standing(read(*rules)) == rules


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I moved things: mailer-4 listens on 10.4.0.7:91.", "I moved things: pinger-5 listens on 10.5.0.7:92."),
        ("Change of plan: the crate for Ada7 leaves on 3 May.", "Change of plan: the crate for Bo8 leaves on 9 May."),
        ("I'd rather you didn't use glue 4 for the frames.", "I'd rather you didn't use glue 5 for the frames."),
        ("No, I meant s3://a-warm/out for Ada7, not the other.", "No, I meant s3://b-warm/out for Bo8, not the other."),
        ("The board is at https://a.example/4?from=now-6h today.", "The panel is at https://b.example/5?from=now-6h today."),
    ],
)
def test_two_updates_worded_alike_are_about_what_they_name(first: str, second: str) -> None:
    assert standing(read(first, second)) == [first, second]
