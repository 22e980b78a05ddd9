"""Names of people: those of the person's list, and those that titles and first names give away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, Literal, TypeAlias

from split_client.redaction.finding.looked import Looked
from split_client.redaction.finding.words import Word, is_german, linked, words_in
from split_client.redaction.kinds import Found
from split_client.redaction.rules import NameLists, names, words

NameKind: TypeAlias = Literal["given", "family"]
_MOST_WORDS: Final = 5
_MOST_ROUNDS: Final = 4


def found_names(
    looked: Looked, known: Mapping[str, NameKind], *, only_known: bool = False
) -> Iterator[Found]:
    """``known``: keys of words that are names in this chat; ``only_known``: no others."""
    if only_known and not known:
        return
    seen = dict(known)
    taken = _Reading(looked, seen, only_known).read()
    # A name that is given away further on is one before, too.
    for _ in range(_MOST_ROUNDS):
        more = {word.key: kind for word, kind in taken if word.key not in seen}
        if not more:
            break
        seen |= more
        taken = _Reading(looked, seen, only_known).read()
    for word, kind in taken:
        yield looked.found(kind, word.key, word.start, word.end)


def known_key(word: Word, known: Mapping[str, object], common: frozenset[str]) -> str | None:
    """The key by which ``word``, or without an s at its end, is known; None where it is not."""
    for key in (word.key, word.key[:-1] if word.key.endswith("s") else ""):
        if len(key) > 1 and key in known:
            return key if word.capital or key not in common else None
    return None


class _Reading:
    """One text, from left to right."""

    def __init__(self, looked: Looked, known: Mapping[str, NameKind], only_known: bool) -> None:
        self._text, self._known, self._only_known = looked.text, known, only_known
        self._words = words_in(looked.text, looked.lower)
        self._lists: NameLists = names()
        self._german = is_german(self._words)
        self._taken: dict[int, tuple[Word, NameKind]] = {}

    def read(self) -> list[tuple[Word, NameKind]]:
        for at, word in enumerate(self._words):
            if at not in self._taken:
                self._at(at, word)
        return [self._taken[at] for at in sorted(self._taken)]

    def _at(self, at: int, word: Word) -> None:
        key = known_key(word, self._known, self._lists.common)
        if key is not None:
            self._take(at, self._known[key])
            if self._known[key] == "given" and not self._only_known:
                self._sequence(at)
        elif not word.capital or self._only_known:
            return
        elif word.key in words("titles"):
            self._titled(at)
        elif self._begins(at, word):
            self._take(at, "given")
            self._before(at)
            self._sequence(at)
        elif word.initial and self._text.startswith(".", word.end):
            following = self._following(at)
            if following is not None and self._words[following].key in self._lists.family:
                self._take(following, "family")

    def _begins(self, at: int, word: Word) -> bool:
        """Whether it is a first name, and no other word."""
        if not _is_candidate(word) or word.key not in self._lists.given:
            return False
        if word.key not in self._lists.common:
            return True
        following = self._following(at)
        return following is not None and self._words[following].key in self._lists.family

    def _titled(self, at: int) -> None:
        following = self._following(at)
        if following is None or following in self._taken:
            return
        word = self._words[following]
        if word.key in self._lists.given and self._following(following) is not None:
            self._take(following, "given")
            self._sequence(following)
        else:
            self._take(following, "family")
            self._tail(following)

    def _before(self, at: int) -> None:
        """The surname in "Schmidt, Anna"."""
        if at == 0 or at - 1 in self._taken:
            return
        word = self._words[at - 1]
        between = self._text[word.end : self._words[at].start]
        if (
            between[:1] == ","
            and 1 < len(between) <= 4
            and not between[1:].strip(" \n")
            and _is_candidate(word)
            and self._is_plain_surname(word)
        ):
            self._take(at - 1, "family")

    def _sequence(self, at: int) -> None:
        """What follows a first name."""
        for following in range(at + 1, min(at + _MOST_WORDS, len(self._words))):
            word = self._words[following]
            if not linked(self._text, self._words[following - 1], word):
                return
            if word.initial or (word.key in words("particles") and not word.capital):
                continue
            if following in self._taken or not self._belongs(following, word):
                return
            surname = word.key in self._lists.family
            if word.key in self._lists.given and (
                not surname or self._following(following) is not None
            ):
                self._take(following, "given")
            else:
                self._take(following, "family")
                self._tail(following)
                return

    def _belongs(self, at: int, word: Word) -> bool:
        if not _is_candidate(word):
            return False
        return (
            not self._german
            or self._hyphened(at)
            or word.key in self._lists.family
            or word.key in self._lists.given
            or word.key.endswith(_looks())
        )

    def _tail(self, at: int) -> None:
        """More surnames behind one."""
        following = self._following(at)
        while following is not None and following not in self._taken:
            word = self._words[following]
            if not (self._hyphened(following) or self._is_plain_surname(word)):
                return
            self._take(following, "family")
            following = self._following(following)

    def _following(self, at: int) -> int | None:
        """The candidate that is linked to the word at ``at``."""
        if at + 1 < len(self._words) and linked(self._text, *self._words[at : at + 2]):
            return at + 1 if _is_candidate(self._words[at + 1]) else None
        return None

    def _hyphened(self, at: int) -> bool:
        return self._text[self._words[at - 1].end : self._words[at].start] == "-"

    def _is_plain_surname(self, word: Word) -> bool:
        return word.key in self._lists.family and word.key not in self._lists.common

    def _take(self, at: int, kind: NameKind) -> None:
        word = self._words[at]
        key = known_key(word, self._known, self._lists.common)
        if key is not None and len(key) < len(word.key):
            word = Word(word.text[: len(key)], key, word.start, word.start + len(key))
        self._taken[at] = word, kind


def _is_candidate(word: Word) -> bool:
    return (
        len(word.key) > 1
        and word.capital
        and word.key not in words("not_names")
        and word.key not in words("titles")
    )


@cache
def _looks() -> tuple[str, ...]:
    return tuple(words("looks"))
