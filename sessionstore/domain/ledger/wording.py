"""The words of a sentence that say what it is about, and the values in it, so that two sentences can be compared."""
from __future__ import annotations

import re
from typing import Final

from sessionstore.domain.ledger.sentences import LABEL

_LETTER: Final = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter or digit of a script that puts blanks between words; in the others a value ends where their signs begin."""
_WORD: Final = re.compile(rf"(?!\d|_){_LETTER}(?:{_LETTER}|['’-])*")
_WIDE: Final = re.compile(r"(?:(?![的是了在也为為和与請请])[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]){2,}")
"""Signs that stand for words, without those that only join them."""
_CHANGED_SIGNS: Final = re.compile(
    r"(?:已|现在|現在)?(?:改为|改為|改成|更新为|更新為|变成|變成|换成|換成)|现在|現在|に変更|今後"
)
_WRITTEN: Final = (
    r"\b[a-z][a-z0-9+]{1,9}://\S+|[`\"“«「][^`\"”»」\n]{1,80}[`\"”»」]"
    rf"|[$€£¥]?\d(?:{_LETTER}|[.,:/%-])*|(?<!{_LETTER})(?:{_LETTER}|-)*\d(?:{_LETTER}|[.-])*|(?<!{_LETTER})[A-Z]{{2,}}(?!{_LETTER})"
    r"|(?<=[\u3400-\u9fff])[A-Z](?![A-Za-z])|(?<=[^.!?:\s]\s)[A-Z](?![\w'’])"
)
_VALUE: Final = re.compile(rf"{_WRITTEN}|(?<=[^.!?:\s]\s)[A-ZА-ЯЁ][\w-]+")
_VALUE_AMONG_NOUNS: Final = re.compile(_WRITTEN)
"""The same where every noun has a capital, which so doesn't make a name."""
_GERMAN: Final = re.compile(
    r"\b(?:der|das|dem|ist|sind|und|für|nicht|mit|wird|werden|auf|zum|zur|ein|eine|einen|jetzt|nun|gilt|beträgt|geht|heißt)\b",
    re.IGNORECASE,
)
_ENGLISH: Final = re.compile(r"\b(?:the|is|are|of|to|and|for|at|with|has|will|el|la|los|del|con)\b", re.IGNORECASE)
_SUFFIX: Final = re.compile(r"(?:'s|’s|ings?|ed|es|s|en|ern|e)$")
_SAME_BEGINNING: Final = 4
"""Letters that two forms of a word share."""
_STOPWORD_LINES: Final = (
    "the a an and or of to in on at by for with from is are was were be been being it its this that these those",
    "there here as not no never always must should shall will would can could may might do does did don't only",
    "all any every each we i you he she they our your their my me us them have has had so if then than when while",
    "but now also just please use used uses using it's still yet belong belongs live lives run runs hosted host",
    "set moved changed located called refer named stay stays remain remains point points user users user's",
    "preferred current currently latest actually update updated want wants need needs der die das den dem des ein",
    "eine einen und oder von zu im ist sind war mit auf für nicht nur le la les un une et ou de du est sont el",
    "los las y o del es son en para con por que и в на не с по это для um nach aus bei als jetzt nun dass auch noch des wird",
    "rather didn't doesn't won't i'd i'll i'm we'd we'll please let's",
    "werden wir ich du ihr sie ahora ya nun maintenant désormais теперь au",
)
_STOPWORDS: Final = frozenset(word for line in _STOPWORD_LINES for word in line.split())


def content_words(text: str) -> frozenset[str]:
    """The words that carry the subject: lower case, ending taken off, without stop words, labels and values.

    Text without spaces between words (Chinese, Japanese) gives its pairs of characters.
    """
    plain = _values_in(text).sub(" ", LABEL.sub("", text))
    words = {stem(word) for word in _WORD.findall(plain.lower()) if len(word) > 1 and word not in _STOPWORDS}
    for run in _WIDE.findall(_CHANGED_SIGNS.sub(" ", plain)):
        words.update(run[index: index + 2] for index in range(len(run) - 1))
    return frozenset(words)


def search_words(text: str) -> frozenset[str]:
    """Every word of a text in the form in which ``content_words`` gives it, values and parts of paths included."""
    words = {stem(word) for word in re.findall(r"[^\W_]{2,}", text.lower()) if word not in _STOPWORDS}
    for run in _WIDE.findall(text):
        words.update(run[index: index + 2] for index in range(len(run) - 1))
    return frozenset(words)


def values_of(text: str) -> frozenset[str]:
    """The values in a sentence: numbers, names, identifiers, URLs, quoted words; without its label."""
    return frozenset(match.strip("`\"“”«».,:;") for match in _values_in(text).findall(LABEL.sub("", text)))


def _values_in(text: str) -> re.Pattern[str]:
    return _VALUE_AMONG_NOUNS if nouns_have_capitals(text) else _VALUE


def nouns_have_capitals(text: str) -> bool:
    """Whether a text is German: two of its small words, or one in a sentence with no word that only English has."""
    found = len({word.lower() for word in _GERMAN.findall(text)})
    return found > 1 or (found == 1 and _ENGLISH.search(text) is None)


def stem(word: str) -> str:
    """A lower-case word without its ending, so that *exceeding* and *exceed* are one."""
    return _SUFFIX.sub("", word) if len(word) > 4 else word


def is_form_of(word: str, others: frozenset[str]) -> bool:
    """Whether a word begins as one of the others does: *approve*, *approval*."""
    return any(word[:_SAME_BEGINNING] == other[:_SAME_BEGINNING] for other in others if len(other) >= _SAME_BEGINNING)
