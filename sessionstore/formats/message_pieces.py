"""Putting together a message that a transcript spread over several records, and finding what of it is not stored yet."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sessionstore.formats.json_text import element_texts, member_spans
from sessionstore.formats.parsed import ParsedMessage


@dataclass(frozen=True, slots=True)
class PieceText:
    """The text of a message object, cut into what stands before its content blocks, the blocks, and what stands after."""

    before: str
    blocks: tuple[str, ...]
    after: str

    @property
    def text(self) -> str:
        """The message with exactly these blocks."""
        return f"{self.before}[{','.join(self.blocks)}]{self.after}"


def cut_into_blocks(message: str) -> PieceText | None:
    """Cut the text of a message at its content blocks; text content counts as one block, None when there is no content."""
    span = member_spans(message).get("content")
    if span is None:
        return None
    start, end = span
    if message[start] == "[":
        blocks = tuple(element_texts(message, start))
    elif message[start] == '"':
        blocks = (f'{{"type":"text","text":{message[start:end]}}}',)
    else:
        return None
    return PieceText(message[:start], blocks, message[end:])


def merge_pieces(pieces: Sequence[PieceText]) -> str:
    """The JSON text of one message with the blocks of all pieces in order, each byte for byte.

    What surrounds the blocks (model, usage, stop reason) is taken from the last piece, where it is final.
    """
    blocks = tuple(block for piece in pieces for block in piece.blocks)
    return PieceText(pieces[-1].before, blocks, pieces[-1].after).text


def unstored_part(message: ParsedMessage, is_stored: Callable[[str], bool]) -> ParsedMessage | None:
    """What remains to be appended of a message, given which keys its lineage already holds.

    None when all of it is stored. When a file that ended inside this message was imported before, the first pieces are stored
    under the key of the last piece there was: what is returned then has only the blocks that came later, and the key of the
    whole, so that nothing is lost, nothing is stored twice, and no row is rewritten.
    """
    if is_stored(message.key):
        return None
    for index in range(len(message.pieces) - 2, -1, -1):
        if not is_stored(message.pieces[index].key):
            continue
        stored_blocks = sum(piece.blocks for piece in message.pieces[: index + 1])
        cut = cut_into_blocks(message.body)
        if cut is None or stored_blocks >= len(cut.blocks):
            return None
        body = PieceText(cut.before, cut.blocks[stored_blocks:], cut.after).text
        return replace(message, body=body, pieces=message.pieces[index + 1 :])
    return message
