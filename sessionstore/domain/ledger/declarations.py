"""Which sentence of a person says how something is, and which only orders that something be done once."""
from __future__ import annotations

import re
from typing import Final

_MAX_DECLARATION: Final = 200
_PROSE: Final = re.compile(r"[^\W\d_][^\n{}\[\]<>|=;\\]*")
_SEVERAL_WORDS: Final = re.compile(r"(?:[^\W\d_][\w'’.-]*,? (?:\S+ )+\S+)|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")
_ENDS: Final = (".", "!", "。", "！", ".)", '."', "”")
_SUBJECT: Final = re.compile(
    r"(?:i|we|he|she|they|it|you|my|our|her|his|their|there|ich|wir|er|sie|es|mein\w*|unser\w*|je|j['’]|nous|il|elle|mon|ma"
    r"|mes|notre|yo|mi|mis|nuestr\w+)\b",
    re.IGNORECASE,
)
_LEAD: Final = (
    r"(?:(?:please|lastly|finally|additionally|if needed|now|then|and|also|so|ok(?:ay)?"
    r"|good|great|right|next|first|but|hi|hello|bitte|und"
    r"|jetzt|et|y|ahora|por favor),? )*"
)
_ORDER: Final = re.compile(
    rf"{_LEAD}(?:(?:do|don['’]?t|fix|add|make|run|rerun|check|write|rewrite|create|update|upgrade|bump|remove|delete|drop"
    rf"|use|try|implement|change|move|build|test|look"
    r"|find|see|let|let['’]?s|give|show|go|get|set|put|install|read|open|close|commit|push|pull|merge|deploy|rename"
    r"|refactor|start|stop|restart|continue|explain"
    r"|review|help|ensure|debug|investigate|verify|compare|search|fetch|list|print|generate|convert|replace|clean|apply"
    r"|revert|restore|enable|disable|split"
    r"|extract|draft|send|email|mail|call|book|order|plan|schedule|prepare|translate|shorten|format|sort|filter|plot"
    r"|compute|calculate|count|query|load|save"
    r"|export|import|download|upload|train|evaluate|document|describe|summari[sz]e|take|tell|turn|handle|pass|wrap|log"
    r"|increase|decrease|reduce|raise|lower|limit"
    r"|scale|ship|reserve|aim|cut|cap|bring|resolve|follow|assume|consider|imagine|think|note|keep|leave|ask|answer|reply"
    r"|inspect|analy[sz]e|solve|figure"
    r"|perform|conduct|execute|provide|include|identify|select|choose|develop|design|define|determine|classify|rate|rank"
    r"|suggest|propose|recommend|discuss"
    r"|simulate|model|act|pretend|complete|fill|modify|adjust|simplify|improve|optimi[sz]e|visit|sum|subtract|multiply"
    r"|divide|sort|double|reverse|configure|focus|arrange|attach"
    r"|i (?:want|need|would like)|i['’]d like|we (?:want|need)|(?:can|could|would|will) you|you are|you['’]re|your task"
    r"|here (?:is|are)|here['’]s|help)\b(?!-)"
    r"|(?:schreib|mach|leg|stell|setz|nimm|gib|zeig|prüf|such|füg|ändere|lösch|erstell|buch|schick|ruf|plan|bestell)(?:e"
    r"|en sie)?\b|hilf\b"
    r"|[a-zà-ÿ]{2,14}(?:ez|ons)(?:-\w+)?\b|(?:ajoute|corrige|écris|fais|mets|crée|change|utilise|ouvre|supprime|vérifie"
    r"|envoie|réserve|prends)\b"
    r"|(?:pon|haz|escribe|añade|crea|cambia|usa|abre|borra|revisa|envía|reserva|manda|corrige|arregla|ayúdame|busca)(?:lo"
    r"|la|los|las|me)?\b"
    r"|请|請|把|帮|幫|给我|給我|добавь|исправь|сделай|напиши|проверь|найди|измени|удали)",
    re.IGNORECASE,
)
_ASKS_FOR_A_DEED: Final = re.compile(r"(?:ください|下さい|てくれ|お願い(?:します|いたします)?|해 ?주세요|吧)[。.!！]?$")
_SETS: Final = re.compile(
    rf"{_LEAD}(?:(?:set|put|make|raise|lower|increase|decrease|reduce|cut|cap|limit|bump|book|schedule|reserve|order|plan"
    rf"|scale|split|give|go|ship|send|aim|move|use"
    r"|(?:leg|setz|stell|buch|bestell|plan)e?|mettez|mets|réservez|réserve|pon(?:lo|la)?|ponga|reserva)\b.{0,80}?"
    r"\b(?:to|at|for|into|on|in|by|than|auf|für|um|pour|à|de|en|a las?|para|it|that \w+|her|him|them|us)?\s?[$€£¥]?\d)",
    re.IGNORECASE,
)
"""An order that gives something its value: *set the limit to 600 MB*, *book it for 20:00*."""
_NAME_FIRST: Final = re.compile(
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof|Frau|Herr|Mme|Señora?)\.? )?(?!(?:This|That|These|Those|There|Here|What|When|Where|Which"
    r"|While|Everything|Everyone|Everybody|Nothing"
    r"|Nobody|Something|Someone|Somebody|Anything|Anyone|Each|Every|Both|Some|Many|Most|Other|Another|Also|Then|Maybe"
    r"|Perhaps|Still|Only|Just|Looks|Seems|Sounds"
    r"|Please|Thanks|Code|Test|Build|File|Page|Script|Server|Error|Output|Question|Problem|Issue|User|They|She|With|From"
    r"|Their|Your|Otherwise|Currently"
    r"|Today|Tomorrow|Yesterday)\b)[A-ZÄÖÜÉÈ][a-zà-ÿ]{3,} (?:is|will|has|can|gets|takes|wants|needs|won['’]t|[a-z]{3,}s|ist"
    r"|hat|wird|est|es|firma|signe)\b"
)
"""A name at the beginning of a sentence, where every word has a capital, and what its bearer is or does."""
_TITLED: Final = re.compile(
    r"[\u3400-\u9fff](?:さん|様|氏|先生|女士|经理|主任|部長|課長|社長)|[一二三四五六七八九十](?:点|月|号|日)"
)
"""A name with its title, or a time in words, in scripts that have no capitals."""


def declares(sentence: str) -> bool:
    """Whether a short sentence of prose says how something is or gives it a value, rather than orders a deed."""
    if len(sentence) > _MAX_DECLARATION or not _PROSE.fullmatch(sentence) or not _SEVERAL_WORDS.match(sentence):
        return False
    if _SETS.match(sentence):
        return True
    if _ORDER.match(sentence) or _ASKS_FOR_A_DEED.search(sentence):
        return False
    # Without an end it may be a line of a list, unless it has the subject of a sentence.
    return sentence.endswith(_ENDS) or _SUBJECT.match(sentence) is not None


def names_who_acts(sentence: str) -> bool:
    """Whether it begins with a name and says what its bearer is or does, as *Ana is on call* does; or has a titled name."""
    if len(sentence) > _MAX_DECLARATION:
        return False
    if not sentence.isascii() and _TITLED.search(sentence):
        return True
    return sentence[0].isupper() and _NAME_FIRST.match(sentence) is not None
