"""The words of a sentence that say what it is about, and the values in it, so that two sentences can be compared."""
from __future__ import annotations

import re
from typing import Final

from sessionstore.domain.ledger.sentences import LABEL

_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_VALUE: Final = re.compile(
    r"https?://\S+|[`\"“«「][^`\"”»」\n]{1,80}[`\"”»」]|[$€£¥]?\d[\w.,:/%-]*|\b[\w-]*\d[\w.-]*|\b[A-Z]{2,}\b"
    r"|(?<=[^.!?:\s]\s)[A-ZА-ЯЁ][\w-]+"
)
_SUFFIX: Final = re.compile(r"(?:'s|’s|ings?|ed|es|s|en|ern|e)$")
_STOPWORD_LINES: Final = (
    "the a an and or of to in on at by for with from is are was were be been being it its this that these those",
    "there here as not no never always must should shall will would can could may might do does did don't only",
    "all any every each we i you he she they our your their my me us them have has had so if then than when while",
    "but now also just please use used uses using it's still yet belong belongs live lives run runs hosted host",
    "set moved changed located called refer named stay stays remain remains point points user users user's",
    "preferred current currently latest actually update updated want wants need needs der die das den dem des ein",
    "eine einen und oder von zu im ist sind war mit auf für nicht nur le la les un une et ou de du est sont el",
    "los las y o del es son en para con por que и в на не с по это для",
)
_STOPWORDS: Final = frozenset(word for line in _STOPWORD_LINES for word in line.split())


def content_words(text: str) -> frozenset[str]:
    """The words that carry the subject: lower case, ending taken off, without stop words, labels and values.

    Text without spaces between words (Chinese, Japanese) gives its pairs of characters.
    """
    plain = _VALUE.sub(" ", LABEL.sub("", text))
    words = {stem(word) for word in _WORD.findall(plain.lower()) if len(word) > 1 and word not in _STOPWORDS}
    for run in _WIDE.findall(plain):
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
    return frozenset(match.strip("`\"“”«».,:;") for match in _VALUE.findall(LABEL.sub("", text)))


def stem(word: str) -> str:
    """A lower-case word without its ending, so that *exceeding* and *exceed* are one."""
    return _SUFFIX.sub("", word) if len(word) > 4 else word
