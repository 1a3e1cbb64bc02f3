"""Rules that no *must* or *never* marks: wishes that something be not, tastes, standing orders; and what only looks so."""
from __future__ import annotations

import re
from typing import Final

_READ: Final = 240
"""Characters of a sentence in which it says what it is."""
_BEGINNING: Final = (
    r"^(?:(?:and|but|also|so|then|oh|please|one (?:more )?thing|und|aber|bitte|et|mais|y|pero|por favor|e"
    r"|per favore)\b[,:]? ?){0,3}"
)
_FOR_GOOD: Final = (
    r"(?:every time|each time|any ?time|whenever|from (?:now|here|this point) on|going forward|in (?:the )?future(?! [a-z])"
    r"|for the rest of|until further notice"
    r"|at (?:all times|no time)|(?:on|in|after|before|to|with|for) (?:each|every) (?:\w+ )?(?:answer|reply|message|commit"
    r"|turn|mail|email|letter|release"
    r"|task|summary|response|call)s?|(?:begin|start|end|close|finish|sign) (?:each|every|all|your) \w+"
    r"|jedes ?mal|immer wenn|ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an|in zukunft|künftig|zukünftig|bis auf weiteres"
    r"|chaque fois|à chaque|dorénavant|désormais|à partir de maintenant|jusqu['’]à nouvel ordre"
    r"|cada vez|siempre que|a partir de ahora|de ahora en adelante|en adelante|hasta nuevo aviso|ogni volta|d['’]ora in poi"
    r"|sempre que"
    r"|каждый раз|отныне|впредь|с этого момента)\b"
)
"""Words by which something holds every time."""
_OF_NO_WISH: Final = (
    r"(?:luck|idea|difference|problems?|errors?|worr\w+|needs?|reason|doubt|outputs?|results?|such|matter|way|response|one"
    r"|wonder"
    r"|signs?|effect|success|issues?|clue|rush|hurry|thanks|news|answer|change|sense|longer|match\w*|tests?|more questions)"
)
_WHEN_OR_WHERE: Final = (
    r"(?:with|without|before|after|until|till|during|for|from|to|over|under|above|below|beyond|on|in|at|by|while|unless|that"
    r"|which|who|please|ever|whatsoever)"
)
_SAYS_HOW_IT_IS: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|there|seems?|shows?|showed|happen\w*|appears?|works?|worked|came|comes|found|got)\b"
    r"|['’](?:s|re) \w"
)
"""A verb by which *nothing …* reports and doesn't wish."""
_NEGATIVE: Final = re.compile(
    rf"{_BEGINNING}(?:no (?!{_OF_NO_WISH}\b)[a-z][\w-]*(?: [a-z][\w-]*)?,? {_WHEN_OR_WHERE}\b"
    rf"|no (?!{_OF_NO_WISH}\b)[\w-]+(?: [\w-]+)?,? please\b"
    rf"|(?:nothing(?! to (?:add|do|see|report|say|worry|change|fix)\b)(?: \w+)?|none of|not? (?:a|any"
    rf"|one)(?: single)?(?: \w+)?|anything but) {_WHEN_OR_WHERE}\b)"
)
_NOBODY: Final = re.compile(
    rf"{_BEGINNING}(?:nobody|no one|no-one) (?:else )?"
    r"(?!knows|thinks|seems|answers|cares|uses|likes|wants|understands|remembers|is|was|has|does|says|works)[a-z]+s\b"
)
_NEGATIVE_ELSEWHERE: Final = re.compile(
    rf"{_BEGINNING}(?:"
    # German
    r"nichts (?:mit|vor|nach|über|unter|von|aus|an|zu|ohne|in|auf)\b|niemand(?:em|en)? (?:darf|soll|außer|bekommt|erfährt)"
    # French
    r"|(?:pas|plus|jamais|aucune?|rien|personne) "
    r"(?:d['’]\w+|(?:de|des|du|avant|après|sans|avec|au|à|ne|[a-zà-ÿ]+ (?:avant|après|sans|dans|sur|pour))\b)"
    # Spanish, Portuguese, Italian
    r"|nada (?:de|con|antes|después|que|sin|por|en)\b|nadie (?:m[aá]s )?(?:debe|puede|toca|entra|excepto|salvo)|ni (?:un|una) "
    r"|(?:no|nunca|jam[aá]s) (?:le|les|lo|la|los|las|me|nos|te|se)\b"
    r"|no (?:pod|quier|quer|vamos a|más de|mand|envi|escrib|llam|us|pon|hag)\w*"
    r"|niente\b|nessun\w*\b|vietato\b|non (?:voglio|vogliamo|devi|deve|dovete|devono|si (?:può|deve)|usare|scrivere|mandare"
    r"|inviare)\b|ninguém\b|sem\b"
    # Russian
    r"|ничего\b|никто\b|никаких\b|никому\b)"
)
_WISH: Final = re.compile(
    rf"\b(?:{_FOR_GOOD}|(?:doesn['’]?t|does not|won['’]?t|would(?:n['’]?t| not)) (?:want|wish|like|eat|drink|tolerate|accept)\b"
    r"|wants? (?:no|none)\b"
    r"|(?:don['’]?t|do not) want (?:to (?!know\b|ask\b|bother\b)|\w+ )"
    r"|i(?:['’]d| would) (?:like|love) (?!to\b|you\b|it if you could|some help|help)\w"
    r"|(?:i|we|she|he|they|my \w+|our \w+) (?:really |always |absolutely )?(?:likes?|loves?|hates?|dislikes?|detests?"
    r"|favou?rs?) (?!it[.!]|this[.!]|the idea|how\b|what you)\w"
    r"|(?:is|are) (?:off the table|out of the question|a no-go|taboo|not an option)\b|(?:use|write|assume|reply|answer|show"
    r"|take) .{1,60} by default\b"
    # German, French, Spanish, Italian
    r"|(?:ich|wir) (?:möchte|hätte|mag|hasse|möchten|hätten|mögen)\b (?!dich|sie bitten|wissen|fragen)"
    r"|je (?:n['’]aime|déteste|voudrais|souhaite)\w*|(?:ne |n['’] ?)(?:veut|veux|voulons|veulent)\w* (?:pas|plus|rien)"
    r"|me gusta|no me gusta|detesto|me gustaría que|quiero que|no quiere|non (?:mi piace|vuole)|preferi\w+|vorrei che\b)"
)
_MANNER: Final = re.compile(
    r"(?:please )?(?:(?:narrate|speak|talk|answer|reply|respond|address|phrase|spell|quote|cite|round|sign|abbreviate) .{0,60}"
    r"\b(?:in|with|as|by|like|to the nearest)\b|call (?:me|us|her|him|them) )"
)
"""How something is to be said."""
_STANDING: Final = re.compile(
    rf"{_BEGINNING}(?:before (?:you|any|\w+ing)\b|(?:before|after|for|with|in|on|at) (?:each|every)\b|(?:please )?(?:be"
    rf"|stay|remain) (?!careful what)[a-z]+[.!,]|(?:everything|all of it) (?:in|with|as)\b|(?:when|after|once|as soon as|if"
    rf"|while) (?:you|anyone|anybody"
    rf"|somebody|someone)\b"
    r"[^,]{0,60}\b(?:an?|any\w*|each|every\w*|something|some|asks?|someone|somebody)\b|(?:bevor|ehe) (?:du|sie|ihr|irgend\w+)\b"
    r"|(?:wenn|sobald|nachdem) (?:du|sie|ihr|jemand)\b[^,]{0,60}\b(?:einen?|eine[rms]?|etwas|irgend\w+|fragt)\b|(?:vor|nach"
    r"|bei|in|zu) jede[rmns]?\b"
    r"|avant (?:de|d['’]|que|chaque|toute?)\b|(?:quand|lorsque|dès que) (?:tu|vous|quelqu['’]un)\b.{0,60}\b(?:une?|des"
    r"|demande)\b"
    r"|antes de(?:l)?\b|(?:cuando|al|después de) \w+.{0,40}\b(?:una?|cada|cualquier)\b|prima di\b|quando (?:finisci|scrivi"
    r"|rispondi)\b"
    r"|antes de|перед тем|прежде чем|когда ты|когда вы)"
)
_SIGNS: Final = re.compile(
    r"不(?:想|希望|愿意?|吃|喝|接受|喜欢|喜歡|用再|需要再|再用|给任何)|没有我的|(?:谁|任何人)(?:都|也)不|每(?:次|当|當|一次|封|个回答)|(?:以后|以後|今后|今後|从现在起|從現在起|从今以后)"
    r"|(?:之前|以前|前|之后|之後|后|後)[，,、]?(?:都|先|请先|請先|一定)|更喜欢|更喜歡|最喜欢|讨厌|討厭|宁可|宁愿|希望(?:你|您|所有|每|用|以|都)|默认"
    r"|ては?(?:いけ|なら)|ちゃだめ|てほしい|て欲しい|ていただきたい|たくない|ないで(?:ほしい|欲しい)|(?:が|は)?(?:好き|嫌い|苦手|好み)|だめ|ダメ|NG"
    r"|避けたい|(?:ない|る)こと[。.]?$|たびに|毎回|[るうくすつぬむぐぶ]前に|今後は|これからは|以降は|(?:する|た)(?:とき|時|際|場合)は"
    r"|지 ?말|원하지 ?않|싫어|때마다|하기 ?전에|앞으로(?:는)?|매번|빼고|빼 ?주|없이|말고"
)
_ONCE: Final = re.compile(
    r"\b(?:when|once|if) you(?:['’]re| are|['’]ve| have)?\s?(?:done|ready|finished|can|could|want|like|need)\b"
)
"""*When you're done* speaks of this once."""
_CONCLUDES: Final = re.compile(
    r"\b(?:must|has to|can['’]?t|cannot) have (?:been|\w+ed|gone|come|got)\b|\b(?:it|that|this|there|he|she|they) must be\b"
    r"|\bmust be (?:(?:an?|the|some(?:thing|one)?|because|why|where|how|wrong|right|kidding|missing|due)\b|[A-Z]\w+, (?:let"
    r"|so|then)\b)"
    r"|\bmuss (?:wohl|ja|gewesen|sein, )|\bdoit (?:avoir|être que)"
)
"""*Must* that says what somebody takes to be true."""
_INTENT: Final = re.compile(r"\b(?:we|i) (?:do )?want to\b|\bich will\b|\bje veux\b|\bquiero (?!que)\w")
_MAY_SEEM: Final = ("must", "have", "want to", "ich will", "muss", "je veux", "doit", "quiero")
_POLITE: Final = re.compile(r"ください|下さい")
_TOPIC: Final = re.compile(r"[はも、](?!い)|ないで|だけ|のみ|必ず|常に")
_BINDS_STILL: Final = re.compile(
    r"\b(?:never|always|only|don['’]?t|not|no|without|avoid|keep|at (?:most|least)|ensure|prefer\w*|immer|nie|nur|kein\w*"
    r"|nicht)\b"
)


def binds_unsaid(sentence: str) -> bool:
    """Whether a sentence forbids, wishes or instructs for good without a word that says so.

    *Nothing with nuts, please*; *Before you answer, …*; *She doesn't want …*; *Pas de pièces jointes*; not what reports that
    nothing is there, and not what is asked for this once.
    """
    said = sentence[:_READ].lower()
    if not said.isascii() and _SIGNS.search(said):
        return True
    if _NOBODY.match(said) or _MANNER.match(said) or _WISH.search(said):
        return True
    if _NEGATIVE.match(said):
        return _SAYS_HOW_IT_IS.search(said.split(",", 1)[0]) is None
    if _NEGATIVE_ELSEWHERE.match(said):
        return True
    return _STANDING.match(said) is not None and _ONCE.search(said) is None


def only_seems_to_bind(sentence: str) -> bool:
    """Whether the word that would make it a rule concludes, says what somebody is about to do, or is mere politeness."""
    if not sentence.isascii() and _POLITE.search(sentence) and not _TOPIC.search(sentence):
        return True
    said = sentence.lower()
    # Most rules have none of these words, and to look for them is cheaper than the patterns.
    if not any(word in said for word in _MAY_SEEM):
        return False
    return (_CONCLUDES.search(sentence) or _INTENT.search(said)) is not None and _BINDS_STILL.search(said) is None
