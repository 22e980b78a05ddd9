"""A reply that is one of a few texts, and always one that the tokens left can hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from split_client.grammar.errors import FormInvalid
from split_client.grammar.vocabulary import Mask, Vocabulary

_NEVER: Final = 1 << 30


class Choices:
    """The texts of one form in one vocabulary; replies share it."""

    def __init__(self, texts: Iterable[str], vocabulary: Vocabulary) -> None:
        """Raises FormInvalid for a text that the vocabulary cannot write."""
        self.vocabulary = vocabulary
        self.texts = tuple(dict.fromkeys(text.encode() for text in texts))
        self._longest = max(map(len, vocabulary.texts), default=0)
        self._needed = tuple(self._tokens_from(text) for text in self.texts)
        for text, needed in zip(self.texts, self._needed, strict=True):
            if needed[0] >= _NEVER:
                raise FormInvalid(f"the model has no tokens for {text.decode()[:40]!r}")

    def needed(self, index: int, at: int) -> int:
        """The fewest tokens that write text ``index`` from byte ``at`` on."""
        return self._needed[index][at]

    def pieces(self, index: int, at: int) -> Iterable[tuple[int, list[int]]]:
        """Where each token that text ``index`` may go on with ends, and all tokens of that text."""
        text, known = self.texts[index], self.vocabulary.tokens_of
        for end in range(at + 1, min(len(text), at + self._longest) + 1):
            tokens = known.get(text[at:end])
            if tokens is not None:
                yield end, tokens

    def _tokens_from(self, text: bytes) -> list[int]:
        known, size = self.vocabulary.tokens_of, len(text)
        needed = [_NEVER] * size + [0]
        for at in range(size - 1, -1, -1):
            ends = range(at + 1, min(size, at + self._longest) + 1)
            after = (needed[end] for end in ends if text[at:end] in known)
            needed[at] = min(_NEVER, 1 + min(after, default=_NEVER))
        return needed


class ChoiceConstraint:
    """A ``split_client.generation.constraint.Constraint``."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._open = tuple(range(len(choices.texts)))
        self._at = 0
        self._ended = False

    @property
    def finished(self) -> bool:
        """The text is whole and nothing may follow."""
        return self._ended or all(map(self._is_written, self._open))

    @property
    def whole(self) -> bool:
        """The text so far is one of the form."""
        return any(map(self._is_written, self._open))

    def allowed(self, remaining: int) -> Mask:
        """The mask [rows] of the tokens that may come next."""
        mask = np.zeros(self._choices.vocabulary.rows, np.bool_)
        mask[self._tokens(self._open, self._at, remaining)] = True
        return mask

    def accept(self, token: int) -> None:
        """``token`` was chosen from what was allowed."""
        if token in self._choices.vocabulary.eos:
            self._ended = True
            return
        self._open, self._at = self._after(self._open, self._at, token)

    def forced(self, remaining: int) -> list[int]:
        """At most ``remaining`` tokens that come next whatever is chosen; it does not move."""
        found, still, at = list[int](), self._open, self._at
        while len(found) < remaining and not self.finished:
            tokens = self._tokens(still, at, remaining - len(found))
            if len(tokens) != 1 or tokens[0] in self._choices.vocabulary.eos:
                break
            found.append(tokens[0])
            still, at = self._after(still, at, tokens[0])
        return found

    def permitted(self, tokens: list[int], remaining: int) -> int:
        """How many of the first of ``tokens`` it allows one after the other; it does not move."""
        still, at = self._open, self._at
        for count, token in enumerate(tokens[:remaining]):
            if self._ended or token not in self._tokens(still, at, remaining - count):
                return count
            if token in self._choices.vocabulary.eos:
                return count + 1
            still, at = self._after(still, at, token)
        return min(len(tokens), remaining)

    def _tokens(self, still: tuple[int, ...], at: int, remaining: int) -> list[int]:
        """What may follow ``at`` bytes of the texts ``still``; what the tokens left cannot hold is
        left out, unless nothing else is there.
        """
        found = self._fitting(still, at, remaining)
        if not found and not self._ends_at(still, at):
            found = self._fitting(still, at, _NEVER)
        if self._ends_at(still, at):
            found.update(self._choices.vocabulary.eos.tolist())
        return sorted(found)

    def _fitting(self, still: tuple[int, ...], at: int, remaining: int) -> set[int]:
        choices, found = self._choices, set[int]()
        for index in still:
            for end, tokens in choices.pieces(index, at):
                if 1 + choices.needed(index, end) <= remaining:
                    found.update(tokens)
        return found

    def _after(self, still: tuple[int, ...], at: int, token: int) -> tuple[tuple[int, ...], int]:
        piece, texts = self._choices.vocabulary.texts[token], self._choices.texts
        left = tuple(index for index in still if piece and texts[index].startswith(piece, at))
        return left, at + len(piece)

    def _ends_at(self, still: tuple[int, ...], at: int) -> bool:
        return any(len(self._choices.texts[index]) == at for index in still)

    def _is_written(self, index: int) -> bool:
        return len(self._choices.texts[index]) == self._at
