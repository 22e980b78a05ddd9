"""Texts of single tokens that, joined, are exactly the text of all."""

from __future__ import annotations

from collections.abc import Sequence

from split_client.generation.detokenizer import Decoder, Detokenizer
from split_client.generation.loop import TokenEvent

_UNFINISHED = "\ufffd"
# A character has at most four bytes; a longer run without a whole one is shown as it is.
_MAX_HELD = 16


class WholeDecoder:
    """Decodes special tokens too, whatever its caller says."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        """The text of ``ids``, special tokens included."""
        del skip_special_tokens
        return self._decoder.decode(ids, skip_special_tokens=False)


def token_texts(decoder: Decoder, ids: Sequence[int]) -> list[str]:
    """The text that each of ``ids`` completes, special tokens included.

    A character that is split over tokens is the text of the last of them.
    """
    whole = WholeDecoder(decoder)
    texts = _texts_alone(whole, ids)
    # Some decoders treat the beginning of a text specially; there each token needs its context.
    return texts if "".join(texts) == whole.decode(list(ids)) else _texts_in_context(whole, ids)


def _texts_alone(decoder: Decoder, ids: Sequence[int]) -> list[str]:
    """Each different token is decoded once, and what has no whole character with what follows."""
    known = {token: decoder.decode([token]) for token in set(ids)}
    texts: list[str] = []
    held: list[int] = []
    for token in ids:
        held.append(token)
        text = known[token] if len(held) == 1 else decoder.decode(held)
        unfinished = text.endswith(_UNFINISHED) and len(held) < _MAX_HELD
        texts.append("" if unfinished else text)
        held = held if unfinished else []
    if held:
        texts[-1] = decoder.decode(held)
    return texts


def _texts_in_context(decoder: Decoder, ids: Sequence[int]) -> list[str]:
    detokenizer = Detokenizer(decoder)
    texts = [detokenizer.push(token) for token in ids]
    if texts:
        texts[-1] += detokenizer.flush()
    return texts


class RunningTexts:
    """:func:`token_texts` of tokens that come in parts."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._before: list[int] = []
        self._held: list[int] = []

    def push(self, ids: Sequence[int]) -> list[tuple[int, str]]:
        """The tokens whose texts are known now, with these; the end of a part may be the beginning
        of a character.
        """
        self._held += ids
        end = len(self._held)
        while end and len(self._held) - end < _MAX_HELD and self._unfinished(end):
            end -= 1
        return self._take(end)

    def flush(self) -> list[tuple[int, str]]:
        """The tokens that are left."""
        return self._take(len(self._held))

    def _unfinished(self, end: int) -> bool:
        """Whether the first ``end`` tokens end within a character."""
        last = self._held[max(end - _MAX_HELD, 0) : end]
        text = self._decoder.decode(last, skip_special_tokens=False)
        return text.endswith(_UNFINISHED)

    def _take(self, count: int) -> list[tuple[int, str]]:
        taken, self._held = self._held[:count], self._held[count:]
        if not taken:
            return []
        # What some decoders do at the beginning of a text they must not do in the middle.
        texts = token_texts(self._decoder, self._before + taken)[len(self._before) :]
        self._before = self._end_of(taken)
        return list(zip(taken, texts, strict=True))

    def _end_of(self, taken: list[int]) -> list[int]:
        """The last tokens of ``taken`` that are whole characters."""
        for count in range(1, _MAX_HELD + 1):
            text = self._decoder.decode(taken[-count:], skip_special_tokens=False)
            if _UNFINISHED not in text:
                return taken[-count:]
        return []


def token_text(decoder: Decoder, token: int) -> str:
    """The text of one token on its own; part of a character shows as a replacement character."""
    return decoder.decode([token], skip_special_tokens=False)


class Settling:
    """Tells whether all text up to a token is out, so that the token may be sent.

    What the decode loop still holds back (part of a character, the possible beginning of a stop
    string) becomes text of a later token, or of this one if it turns out to be the last.
    """

    def __init__(self, decoder: Decoder, stops: Sequence[str]) -> None:
        self._stops = bool(stops)
        self._detokenizer = Detokenizer(decoder)
        self._ahead = 0

    def settled(self, event: TokenEvent) -> bool:
        """Whether nothing is held back after ``event``; ask once for each, in order."""
        if self._stops:
            made = self._detokenizer.push(event.token)
            self._ahead += len(made) - len(event.text)
        return bool(event.text) and self._ahead == 0
