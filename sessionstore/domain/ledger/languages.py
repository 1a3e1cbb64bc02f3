"""The words by which a sentence binds, decides, concludes or says what is left, language by language.

Each string is a pattern of alternatives; ``words`` are matched between word boundaries, ``signs`` anywhere, for scripts that
put no space between words.
"""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words that are found in a text whatever its case.

    The text is made lower case, not the pattern told to ignore it: with so many alternatives that is three times as fast.
    """

    pattern: re.Pattern[str]
    of_ascii: re.Pattern[str]
    """The same without the signs of other scripts, which take half the time and are in no ASCII text."""

    def is_in(self, text: str) -> bool:
        """Whether the text has any of the words."""
        return (self.of_ascii if text.isascii() else self.pattern).search(text.lower()) is not None

    def until(self, text: str) -> str:
        """The text in lower case up to the end of the first of the words; empty without one."""
        match = self.pattern.search(lowered := text.lower())
        return "" if match is None else lowered[: match.end()]

    def found_in(self, text: str) -> list[str]:
        """Every one of the words that is there, in lower case."""
        return [match[0] for match in self.pattern.finditer(text.lower())]

    def taken_out_of(self, text: str) -> str:
        """The text in lower case without the words."""
        return self.pattern.sub("", text.lower())


def vocabulary(*, words: tuple[str, ...], signs: tuple[str, ...]) -> Vocabulary:
    """One pattern that finds any of the alternatives, which are written in lower case."""
    between_bounds = rf"\b(?:{'|'.join(words)})\b"
    return Vocabulary(re.compile(f"{between_bounds}|{'|'.join(signs)}"), re.compile(between_bounds))


BINDING: Final = vocabulary(
    words=(
        r"must(?:n['’]t)?|never(?! mind)|always|do not",
        r"don['’]?t(?! (?:know|think|see|understand|remember|care|mind|have|get|want to))|shall|avoid|ensure",
        r"should(?:n['’]?t| not)?|only|prefer(?:s|red|ence)?|(?<!me )(?<!us )(?<!me to )(?<!us to )keep (?!in mind)|without",
        r"make sure|be sure to|stick to|insist\w*",
        r"at (?:most|least)|no (?:more|less|fewer|later|longer|new|external|other|additional)",
        r"not (?:allowed|permitted|more than|exceed)",
        r"needs? to (?:be|stay|remain)|has to|have to|required?|forbidden|prohibited|cannot|can['’]?t|may (?:not|only)",
        r"under no circumstances|from now on|going forward|(?:would|['’]d) rather",
        r"limit(?:ed)? (?:is|to|of)|maximum of|minimum of|(?:is|are) capped|cap (?:is|of)|instead of|rather than",
        r"until .{1,60} (?:review|approv|sa)\w*",
        r"(?:user|customer|client|team|everyone) wants?|(?:we|i) want (?!you)",
        r"no (?!problem|idea|luck|worr|need|doubt|errors?\b|rush)[a-z-]+(?: [a-z-]+)?[,;:]? (?:in|at|on|from|please|ever)",
        r"leave .{1,40} (?:alone|as (?:is|it|they)|untouched|unchanged)|use .{1,60} (?:not|for all|everywhere)|answer in",
        r"respond in|reply in|write .{1,40} in",
        r"hands off|off[ -]limits|steer clear|stays? (?:up|put|on|off|exactly|as (?:is|it|they))|embargoed",
        r"confidential|allergic",
        r"(?:is|are) (?:not )?to be|(?:is|are) not to|on no account|in no case|whatever (?:you do|happens)|no matter what",
        r"(?:nothing|nobody|no one|no-one) (?:is to|may|must|should|can|gets?|goes|leaves|sees|outside|else|but|except)",
        r"every(?:thing|one) (?:that|which|you|goes|leaves|gets)|stick with|if possible|can['’]?t stand",
        r"i (?:hate|dislike)|cc['’]?d",
        r"(?:ask|tell|ping|warn|consult|check with|run .{1,40} past) \w+\b.{0,20} (?:first|before)|past me|unless (?:you|i|we)",
        r"keep in mind that|please (?:use|stick|leave|skip)|^[\w ]{1,30}, not [\w ]{1,30}",
        # German
        r"muss|müssen|darf|dürfen|niemals|nie|immer|nicht|kein(?:e[nrsm]?)?|nur|bevorzug\w*|lieber|höchstens|mindestens",
        r"maximal|ohne",
        r"finger weg|in ruhe|erst (?:raus|wenn|dann)|frag\w* .{1,30}bevor|stets",
        r"auf jeden fall|verboten|untersagt|vertraulich",
        r"vermeide\w*|soll(?:te|ten|en)?|stell\w* sicher|achte\w*|unbedingt|bleib\w*|behalte\w*",
        # French
        r"doi(?:t|s|vent)|jamais|toujours|ne .{1,30} pas|n['’]\w+ pas|seulement|uniquement|préfère\w*|sans",
        r"au (?:plus|moins|maximum|minimum)",
        r"hors de question|en aucun cas|sous aucun \w+|à aucun \w+|défense de",
        r"évite[rz]?|gard(?:e|er|ez)|il faut|interdit\w*|assure[z-]\w*|veille[rz]?|obligatoire\w*",
        # Spanish, Portuguese, Italian
        r"deb(?:e|es|en|emos)|nunca|siempre|s[oó]lo|solamente|únicamente|prefiero|prefiere|sin|asegúra\w+",
        r"como (?:máximo|mínimo)|al menos|hay que|tien(?:e|es|en) que|ning[uú]n\w*|ni se te ocurra|de ninguna manera",
        r"en todo caso|por favor,? (?:us|escrib|respond)\w+",
        r"evita\w*|mantén\w*|obligatori\w+|prohibid\w+|no (?:us|hag|toqu|cambi|modifi|borr|deb|pued|elimin|agreg)\w+",
        r"sempre|apenas|somente|dev(?:e|em|i|ono)|mai|senza|não",
        # Russian
        r"долж(?:ен|на|но|ны)|нельзя|никогда|всегда|только|не|без|предпочита\w+|максимум|минимум|обязательно|избега\w+",
        r"надо|нужно",
        r"запрещ\w+|убедись|убедитесь|следи|сохрани\w*|оставь\w*",
    ),
    signs=(
        # Chinese
        r"必须|必須|务必|務必|不要|不得|不能|不可|不许|不允许|禁止|只能|只用|仅|僅|始终|始終|总是|總是|永远|切勿|优先|優先|保持|至少|最多",
        r"一律|严禁|嚴禁|不准|不準|勿|一定要|请用|請用|先问|先問|须经|不许动|别动|不超过|不超過|确保|確保|避免|别|請勿|请勿|应该|應該|偏好",
        # Japanese
        r"必ず|しないで|しない|してはいけ|ないでください|だけ|のみ|常に|決して|ようにして|以内|以下|以上|避けて|べき|なければ|ください",
        # Korean
        r"반드시|하지 ?마|마세요|항상|절대|이하|이상",
    ),
)
"""Must, never, only, prefer, at most, without, and their like."""

WISHING: Final = vocabulary(
    words=(
        r"(?:we|i) want|(?:user|customer|client|team|everyone) wants?|should(?! not|n['’]t)|ensure|make sure",
        r"(?:we|i) (?:need|have) to|can['’]?t|cannot|keep",
        r"soll(?:te|ten|en)?|kann nicht|il faut|надо|нужно",
    ),
    signs=(r"应该|應該|ください|べき",),
)
"""The weaker ones of these: what somebody wants or needs, and what cannot be done."""

CHANGING: Final = vocabulary(
    words=(
        r"now|instead|chang(?:ed|es|ing)|change (?:to|it|that|the|in|of)|updat\w+|no longer|actually",
        r"correction|moved?|the new|switch\w*",
        r"from now on|going forward|(?<!['’]d )(?<!would )rather|revised|rotat\w+|retired|rebased|renamed|replac\w+",
        r"change of plan|i meant|scratch that|postponed|pushed (?:back|to)|again|after all|brought forward",
        r"as of (?:today|now)|back to",
        r"jetzt|nun|statt|geändert|korrektur|verschoben|ab sofort|doch|neuerdings|wieder|maintenant|à nouveau",
        r"désormais|finalement",
        r"ahora|ya (?:no|pued\w+)|correcci[oó]n|cambi[oó]|mejor dicho|теперь|снова|измен\w+",
    ),
    signs=(r"现在|現在|改为|改為|改成|换成|換成|更新|更正|に変更|今後|변경",),
)
"""Now, instead, changed, moved, no longer, and their like; *new* alone may be part of a name."""

CORRECTING: Final = vocabulary(
    words=(
        r"i meant|i mean|correction|scratch that|my mistake|typo|wrong (?:one|link|file|id|number|path|address)",
        r"should (?:be|read|have been)",
        r"ich meinte|korrektur|verschrieben|vertippt|je voulais dire|rectification|quise decir|quer[ií]a decir",
        r"correcci[oó]n|me equivoqu\w+",
        r"я имел в виду|опечатка|исправление",
    ),
    signs=(r"我是说|我是說|更正|打错|打錯|写错|寫錯|弄错|訂正|間違え",),
)
"""I meant, correction, typo: what was said before was wrong."""

LIFTING: Final = vocabulary(
    words=(
        r"(?:you|we|they|people|everyone) (?:may|can)|(?:is|are|it['’]s) (?:fine|ok|okay|allowed|permitted|safe|free)",
        r"feel free|no longer (?:need|have|applies|forbidden|off[ -]limits)|don['’]?t (?:have|need) to",
        r"(?:forget|drop|ignore|lift|scrap) (?:about |that |what )?(?:the |my |i )?(?:rule|ban|freeze|restriction|limit|said)",
        r"(?:darfst|dürft|dürfen|kannst|könnt|können) (?:du |ihr |wir |sie )?(?:jetzt|nun|wieder|doch)",
        r"ist (?:jetzt|wieder) (?:ok|erlaubt)",
        r"(?:pued\w+|pod[eé]is) (?:volver|usar|tocar|\w+[aei]r)|ya (?:se )?pued\w+|ya no hace falta",
        r"(?:peux|pouvez|pouvons) (?:maintenant|désormais|de nouveau|à nouveau)|c['’]est (?:bon|permis)",
        r"теперь можно|можно снова",
    ),
    signs=(r"(?:现在|現在|已)?可以|允许|允許|不再禁止|ても(?:いい|よい|構わない)|해도 (?:돼|됩니다|괜찮)",),
)
"""What is allowed: a sentence that takes back an earlier prohibition says so."""

REVISING: Final = vocabulary(
    words=(
        CHANGING.of_ascii.pattern.removeprefix(r"\b(?:").removesuffix(r")\b"),
        r"make (?:it|that|this|them)|rais(?:e|ed)|lower(?:ed)?|reduc\w+|increas\w+|decreas\w+|bump\w*|extend\w*|shorten\w*",
        r"becomes?|became|push(?:ed)? (?:it|that|out)|put (?:it )?(?:back|off|forward)",
        r"mov(?:e|ing) (?:it|that|to)|set (?:it|that)",
        r"slips?|slipped|takes? over|forget|drop|scrap|ditch|(?:were|was|been) wrong|on reflection|on second thought",
        r"turns? out|corrected|(?:came|down|up) to|any ?more|new plan|in the end|pushed back",
        r"overruled|insists? on|cut (?:it|that)|let['’]?s (?:go with|take|make)|not enough|too \w+(?=[.,;!])",
        r"zu \w+(?=[.,;!])|n['’]est plus|ne .{1,20} plus|trop|demasiado|ya no",
        r"mach\w* (?:wir )?(?:es|das|daraus)|erhöh\w+|senk\w+|verschieb\w+|verleg\w+|verläng\w+|verkürz\w+|ersetz\w+|vergiss",
        r"streich\w*|lieber|stattdessen|nicht mehr|abgesagt|mets|passe[rz]? (?:à|au|de)|augment\w+",
        r"rédui\w+|repouss\w+|décal\w+",
        r"avanc\w+|remplac\w+|oubli\w+|plutôt|en fait|déplac\w+|annul\w+|pon(?:lo|la|gamos)|s[uú]be\w*|b[aá]ja\w*|cambi\w+",
        r"pas[ae] a|reempla\w+|sustitu\w+|olvid\w+|mejor|al final|en realidad|aplaz\w+|adelant\w+|cancel\w+|вместо|лучше",
    ),
    signs=(
        r"改|换|換|更新|更正|变更|變更|変更|提高到|降到|推迟|推遲|提前|延期|取消|不用|不再|其实|還是|还是|算了|现在|現在|今後",
        r"にして|やめ|ではなく|じゃなく|前倒し|上げ|下げ|代わり|変わ|やはり|やっぱり|取り消|변경|대신",
    ),
)
"""Words with which a value is changed; each alone may mean something else, so more has to agree."""

ALLOWING: Final = vocabulary(
    words=(
        r"(?:is|are|be|it['’]s|that['’]s) (?:\w+ ){0,2}(?:fine|ok|okay|allowed|permitted|welcome|safe)",
        r"unblocked|lifted|allow\w*",
        r"(?:can|may) (?:\w+ ){0,5}(?:again|now|after all|too)|(?:can|may) (?:stay|go off)|free to|feel free",
        r"no longer (?:appl\w+|needed|necessary|required|forbidden|off|a problem|matters?)",
        r"\w+n['’]t (?:a )?(?:problem|issue) any ?more",
        r"(?:rule|ban|restriction|freeze|embargo) (?:is|['’]s) (?:off|over|gone)|takes? back|taken back|may have|you can use",
        r"wieder (?:erlaubt|ok|okay|in ordnung|möglich)|in ordnung|erlaubt|darf\w*|dürf\w+|aufgehoben",
        r"gilt nicht mehr|hinfällig",
        r"entfällt|freigegeben|kannst|könnt|permis\w*|autoris\w+",
        r"peu(?:x|t|vent|vez) (?:\w+ ){0,3}(?:nouveau|finalement|maintenant)",
        r"levé\w*|ne s['’]applique plus|plus (?:besoin|de problème|interdit\w*)|permit\w+|autoriz\w+|ya (?:se )?pued\w+",
        r"pued\w+ (?:\w+ ){0,3}(?:otra vez|de nuevo|ya)|levant\w+|ya no (?:\w+ ){0,2}(?:aplica|falta|problema|importa)|можно",
    ),
    signs=(
        r"可以|允许|允許|取消|解除|不再|没问题|沒問題|作废|作廢|ても(?:いい|よい|大丈夫|構)|解禁|取り消|許可|問題(?:ない|ありません)",
    ),
)
"""Words with which something is allowed that was not; each alone may mean something else, so more has to agree."""

RESTRICTING: Final = vocabulary(
    words=(
        r"never|not|don['’]?t|without|avoid\w*|no|nothing|nobody|none|only|nil|leave .{1,40} out",
        r"keep .{1,40} out|leave out|skip",
        r"free of|freeze|frozen|hold off|off limits|forbidden|must(?:n['’]t)?|ban(?:ned)?|refrain|embargo\w*|strict\w*",
        r"nie|niemals|nicht|kein\w*|ohne|nur|vermeid\w+|verboten|jamais|pas|sans|aucun\w*|évite\w*|interdit\w*|nunca|nada|sin",
        r"ning[uú]n\w*|evit\w+|prohibid\w+|никогда|не|без|только",
    ),
    signs=(r"不要|不得|不许|不准|不能|禁止|严禁|嚴禁|勿|别|避免|控え|避け|しない|ないで|なし|だけ",),
)
"""Words of a restriction, strict or mild."""

DECIDING: Final = vocabulary(
    words=(
        r"decided|decision (?:is|was|to)|decision(?=:)|going with",
        r"let['’]?s (?:go with|use|keep|do)|go with|chose|chosen|we choose|i choose",
        r"opt(?:ed|ing) (?:for|to)",
        r"(?:i|we)(?:['’]ll| will| am going to|['’]m going to)(?: \w+){0,2} (?:use|keep|go|switch|pick|take|stick)",
        r"(?:went|gone|going|sticking|stuck) (?:ahead )?with",
        r"(?:i|we) (?:chose|took|left|kept|put) .{1,80} (?:because|since|so that)",
        r"picked .{1,60}(?:over|because|since)|(?:i|we)['’]ll take|take (?:option|plan|variant)",
        r"over .{1,50} (?:because|since)|it is then",
        r"(?:ich|wir) (?:nehme|nehmen|nahm|nahmen|wähle|wählen|behalte|bleibe\w*|setze\w*) .{1,120}(?:weil|da|damit|denn)",
        r"opt[eéó]|optamos|me quedo con|me quedé con|nos quedamos con|en vez del|en lugar del",
        r"(?:j['’]ai|on a|nous avons) (?:retenu|pris|gardé)",
        r"(?:je|on|nous) (?:prends|prend|prenons|garde\w*) .{1,80}(?:parce|car|puisque)",
        r"settled on|agreed (?:on|to|that)|trade-?off|switch(?:ed|ing) to|(?:i|we)(?:['’]ve)? picked|prefer .{1,60} because",
        r"(?:(?:i|we)(?:['’](?:m|re|ll|ve))?|us(?:e|ing|ed)|keep|keeping|kept|made|moved) .{1,80} (?:instead of|rather than)",
        r"entschied\w*|entschlossen|statt(?=\s+\w)|anstelle|gewählt|décid\w+|plutôt que|au lieu d\w*|choisi\w*|decid\w+",
        r"en lugar de",
        r"en vez de|elegi\w+",
        r"опт\w+|реши\w+|вместо|выбра\w+",
    ),
    signs=(r"选了|選了|选定|選定|定为|定為|就用|决定|決定|选择|選擇|采用|採用|而不是|改用|決め|代わりに|ことにし|선택|대신|결정",),
)
"""Decided, chose, going with, instead of, and their like."""

UNDECIDED: Final = vocabulary(
    words=(
        r"could|might|would|if|(?:have|has|had)(?:n['’]t| not)(?: \w+)? (?:decided|chosen|picked|settled)",
        r"not (?:yet )?decided|undecided",
        r"(?:nichts|nicht|noch kein\w*|noch offen) .{0,20}entschi\w+|könnten?|falls|wenn|pourr\w+|pas encore",
        r"no (?:he|hemos|ha|se ha) .{0,12}decidido|podr[ií]a\w*|aún no|todavía no|не решил\w*|можно было бы",
    ),
    signs=(r"还没|還沒|尚未|没有决定|沒有決定|如果|可以考虑|まだ決め|かもしれ",),
)
"""Could, if, haven't decided: what is weighed and not chosen."""

CONCLUDING: Final = vocabulary(
    words=(
        r"root cause|turns out",
        r"the (?:real |actual |main |underlying )?(?:issue|problem|bug|cause|culprit|reason|failure|fix) (?:is|was|comes|came)",
        r"confirmed|discovered|(?:i |we )?found (?:that|the|a|an)|because|due to|caused by|which means|so the|verified",
        r"reproduced|noted (?:that|in)",
        r"now (?:passes|works|returns|uses|runs|listens)|fixed|passes|succeeded",
        r"ursache|liegt (?:an|daran)|weil|parce que|à cause|la causa|porque|причина|потому что",
    ),
    signs=(r"原因|因为|ため|때문",),
)
"""Root cause, turns out, because, confirmed, and their like."""

REMAINING: Final = vocabulary(
    words=(
        r"next(?: steps?| up|(?=[,:]))|remaining|remains|still (?:need|to|have|missing|open)|todo|to do|left to do|not yet",
        r"follow-?up|pending|outstanding",
        r"after (?:that|this),? (?:i|we)|then i(?:'ll| will)",
        r"als nächstes|noch (?:offen|zu|nicht)|nächste\w*|ensuite|prochain\w*|reste|à faire|siguiente|pendiente|falta\w*",
        r"далее|осталось|следующ\w+",
    ),
    signs=(r"下一步|接下来|还需|剩余|待办|次に|残り|まだ|다음",),
)
"""Next, remaining, still to do, and their like."""

FIXING: Final = vocabulary(
    words=(
        r"(?:is|are|was|were|has been|have been|got|i['’]ve|we['’]ve|i|we) (?:now |also |already )?(?:resolved|solved)",
        r"(?:is|are|was|were|been|got|i['’]ve|we['’]ve|i|we) (?:now |also |already )?fixed(?! (?:to|at|by|in|width|size))",
        r"no longer (?:fails?|occurs?|happens?|appears?|crashes|throws|raises)|(?:is|are) gone(?! (?:wrong|through))|went away",
        r"(?:pass(?:es)?|works?|succeeds?|builds?|compiles?) (?:now|again)",
        r"now (?:pass(?:es)?|works?|succeeds?|builds?|compiles?)",
        r"fixed (?:the|it|this|that)|fixed(?=\W*$)",
        r"(?:ist|sind|wurden?) (?:jetzt |nun |damit )?(?:behoben|gelöst|repariert)|läuft (?:jetzt|wieder)|tritt nicht mehr auf",
        r"(?:est|sont) (?:maintenant )?(?:corrigée?s?|résolue?s?|réparée?s?)",
        r"(?:está|están|queda|quedó) (?:ya )?(?:arreglad|solucionad|corregid|resuelt)[oa]s?|исправлен[аоы]?|устран[её]н[аоы]?",
    ),
    signs=(r"已修复|已修復|已解决|已解決|修好了|直りました|修正済み|解決しました|해결되었|해결됐|고쳤",),
)
"""Is fixed, passes now, no longer fails, is gone, and their like: what failed before fails no more."""

UNFIXED: Final = vocabulary(
    words=(
        r"not|\w+n['’]t|never|to be|should|could|would|might|may|will|['’]ll|if|once|when|until|before|unless|hop(?:e|ing)",
        r"try(?:ing)?|needs?|must|let['’]?s|can|whether|part(?:ly|ially)|almost|nearly|only|nothing|none|think|assum\w+",
        r"nicht|kein\w*|noch|falls|wenn|sobald|teilweise|pas|si|quand|presque|cuando|casi|todavía|не|если|когда|почти",
    ),
    signs=(r"没|沒|未|如果|まだ|なければ|아직",),
)
"""Not, should, will, once, partly: words beside which nothing is said to be fixed for certain."""
