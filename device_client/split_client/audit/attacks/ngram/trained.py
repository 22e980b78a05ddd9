"""The token prior of a model: what public texts say in that model's own tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.ngram.counting import Snippet
from split_client.audit.attacks.ngram.smoothed import Smoothed
from split_client.audit.texts.sources import Texts

LONGEST = 5
# Ids before a text that are no token, so that its beginning has as long a past as its middle.
BEFORE = LONGEST - 1
# Shares of what whole messages say, of what messages that a model wrote say, and of what words and
# pairs of texts of all kinds say.
_MESSAGES, _WRITTEN, _WORDS = 0.3, 0.25, 0.45
_AT_ONCE = 500
# Counts of the web, brought down to as many words as a person writes.
_WEB = 2e5
# Of how often a word is written, how often with a capital letter.
_LARGE = 0.1


class TokenPrior:
    """log p(token | tokens before it) in a message of the chat whose frame ``model`` has."""

    def __init__(self, model: PublicModel, texts: Texts, typical: Sequence[str] = ()) -> None:
        """``typical``: texts of the kind that users of this model write.

        ``lead`` is what a text begins with for :meth:`after`.
        """
        self.lead = _lead(model)
        messages = _messages(model, [*texts.messages, *typical], self.lead)
        # One more id, for what stands before a text without a template.
        size = model.vocabulary + 1
        self._parts = [(_MESSAGES, Smoothed(messages, size, LONGEST))]
        for share, snippets in (
            (_WRITTEN, _messages(model, texts.written, self.lead)),
            (_WORDS, list(_words(model, texts))),
        ):
            if snippets:
                self._parts.append((share, Smoothed(snippets, size, LONGEST)))
        self._whole = sum(share for share, _ in self._parts)
        self.alone = np.log(
            self._mixed([smoothed.alone[: model.vocabulary] for _, smoothed in self._parts])
        )

    def after(
        self, beginnings: NDArray[np.int64], tokens: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Log probabilities of ``tokens`` [k] after ``beginnings`` [n, any]: [n, k]."""
        found = [smoothed.after(beginnings, tokens) for _, smoothed in self._parts]
        return np.asarray(np.log(self._mixed(found)))

    def _mixed(self, found: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        shares = [share / self._whole for share, _ in self._parts]
        return np.asarray(sum(s * each for s, each in zip(shares, found, strict=True)))


def _lead(model: PublicModel) -> tuple[int, ...]:
    """What stands before a message: the template's tokens, and before them what is no token."""
    return (model.vocabulary,) * BEFORE + tuple(model.prefix)


def _messages(model: PublicModel, texts: Sequence[str], lead: tuple[int, ...]) -> list[Snippet]:
    """Each in the template's frame, so that beginnings and ends are learnt as well."""
    near, end = lead[-BEFORE:], tuple(model.suffix[:1])
    pieces = _tokens(model, texts)
    return [Snippet((*near, *piece, *end), BEFORE) for piece in pieces if piece]


def _words(model: PublicModel, texts: Texts) -> Iterator[Snippet]:
    """Words as they stand within a text, by their counts; each also behind the one before it."""
    spelt = {word: f" {word}" for pair in texts.pairs for word in pair[:2]}
    spelt |= {word: f" {word}" for word, _ in texts.words}
    tokens = dict(zip(spelt, _tokens(model, list(spelt.values())), strict=True))
    large = dict(zip(spelt, _tokens(model, [word.capitalize() for word in spelt]), strict=True))
    spaced = _tokens(model, [f" {word.capitalize()}" for word in spelt])
    within = dict(zip(spelt, spaced, strict=True))
    whole, near = sum(count for _, count in texts.words) or 1.0, _lead(model)[-BEFORE:]
    for word, count in texts.words:
        weight = _WEB * count / whole
        yield Snippet(tokens[word], 0, weight)
        # As a name within a text or the first word of a sentence, and as the first one of all.
        yield Snippet(within[word], 0, _LARGE * weight)
        yield Snippet((*near, *large[word]), BEFORE, _LARGE * weight)
    whole = sum(count for *_, count in texts.pairs) or 1.0
    for first, second, count in texts.pairs:
        yield Snippet((*tokens[first], *tokens[second]), len(tokens[first]), _WEB * count / whole)


def _tokens(model: PublicModel, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each of ``texts``, of many at once: line breaks between them fall out again."""
    found: list[list[int]] = []
    line = model.tokens("\n")
    for first in range(0, len(texts), _AT_ONCE):
        part = texts[first : first + _AT_ONCE]
        pieces = list(_split(model.tokens("\n".join(part)), line)) if len(line) == 1 else []
        # Where a tokenizer joins breaks and words, each text is taken by itself.
        if len(pieces) != len(part):
            pieces = [model.tokens(text) for text in part]
        found += pieces
    return found


def _split(tokens: Iterable[int], line: Sequence[int]) -> Iterator[list[int]]:
    piece: list[int] = []
    for token in tokens:
        if token == line[0]:
            yield piece
            piece = []
        else:
            piece.append(token)
    yield piece
