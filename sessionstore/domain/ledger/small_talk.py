"""What a person says that says nothing by itself: thanks, *go on*, questions, and a yes or no to what was proposed."""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_MOST: Final = 80
_SMALL_TALK: Final = re.compile(
    r"(?:(?:thanks?|thank you|thx|cheers|good|great|fine|nice|cool|perfect|lovely|excellent|wonderful|awesome|brilliant"
    r"|okay|ok|right|alright|sure|yes|yeah|yep"
    r"|hm+|ah+|oh|well|hi|hello|hey|morning|good (?:morning|evening|day)|sorry|back again|i['’]?m back|pity"
    r"|was on the phone|got it|i see|makes sense|understood|noted|agreed"
    r"|that (?:helps|works|makes sense)|go (?:on|ahead)|(?:please )?continue|proceed|carry on|keep going|next|and then"
    r"|please|then|so|now|very|much"
    r"|a lot|again|for (?:that|this|now|the help)|with that|looks good|sounds good|well done|that['’]s (?:good|fine|great|all)"
    r"|danke|vielen dank|gut|prima|super|klar|genau|so|bin wieder da|weiter|mach(?:en sie)?|bitte|hallo|schön|alles klar"
    r"|verstanden|in ordnung"
    r"|merci|bien|bon|parfait|d['’]accord|continue[zs]?|s['’]il (?:vous|te) plaît|me revoilà|bonjour|très|beaucoup"
    r"|gracias|vale|perfecto|sigue|siga|continúa|por favor|ya estoy aquí|hola|muy|grazie|bene|avanti|obrigad[oa]|спасибо"
    r"|хорошо|дальше|продолжай(?:те)?)\b[\s,.!…:;—–-]*)+"
    r"|(?:谢谢|謝謝|好的?|嗯|请?继续|請?繼續|明白了?|可以|不错|辛苦了|你好|您好|ありがとう(?:ございます)?|なるほど|はい|了解(?:です|しました)?|続けてください|続きを?(?:お願いします)?"
    r"|わかりました|こんにちは|では|감사합니다|네|계속)+[\s。、！!.，,～~]*",
    re.IGNORECASE,
)
_ASKS_TO_BE_TOLD: Final = re.compile(
    r"(?:(?:and|so|now|then|ok(?:ay)?|please|good|right)[,.]? ){0,2}(?:(?:tell|show|remind|read|give|walk) (?:me|us)"
    r"|describe|explain|summari[sz]e|have a look|take a look|look at"
    r"|i (?:look|listen|wait|rest)|(?:erklär|beschreib|zeig)\w*|raconte|explique|montre|décris|dime|explica|muestra"
    r"|cuéntame|describe)\b",
    re.IGNORECASE,
)
_ANSWER: Final = re.compile(
    r"(?:no|nah|nope|never|don['’]t|do not|please don['’]t|yes|yeah|yep|sure|nein|nee|ja|doch|lieber nicht|non|oui|sí|si"
    r"|нет|да)(?: thanks?(?: you)?)?(?: but no)?\s?[,.!;—–-]+\s"
    r"|(?:thanks|thank you),? but no\b[,.!;:]?\s?|(?:不|不用|不行|不要|好|いいえ|はい|いや)[，,、。]",
    re.IGNORECASE,
)
_SHORT_ANSWER: Final = 120


def is_small_talk(sentence: str) -> bool:
    """Whether it greets, thanks, or only tells to go on."""
    return len(sentence) <= _MOST and _SMALL_TALK.fullmatch(sentence.strip()) is not None


def asks_to_be_told(sentence: str) -> bool:
    """Whether it is a question in the form of an order: *Tell me more about the map.*"""
    return _ASKS_TO_BE_TOLD.match(sentence) is not None


def without_answer(sentence: str) -> str:
    """A sentence without the *No,* or *Yes,* before it, which answers somebody."""
    answer = _ANSWER.match(sentence)
    return sentence if answer is None else sentence[answer.end():]


def is_bare_answer(said: Iterable[str]) -> bool:
    """Whether a message says yes or no to what was said before it, and little more: *Don't, it has no capacity.*"""
    said = [sentence for sentence in said if not is_small_talk(sentence)]
    return len(said) == 1 and len(said[0]) <= _SHORT_ANSWER and _ANSWER.match(said[0]) is not None
