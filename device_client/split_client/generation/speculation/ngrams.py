"""Where a growing text had the same last tokens before.

For each of the orders 8, 4 and 2 the positions that follow the same hash of so many tokens form a
chain, newest first, as in dictionary compressors. A chain is an array of positions, so that the
text can be cut back as it grew, and 100,000 tokens take some 2 MB.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

# Of the longest match, beyond which matches count as equal.
LONGEST = 16
_ORDERS = (8, 4, 2)
_BUCKETS = 1 << 15
# Links of one chain that are looked at.
_LOOKED_AT = 64
# Of the best matches, the newest that have a voice in what follows.
_VOICES = 16
_WORD = 0xFFFFFFFF


class Ngrams:
    """``repeats``: what follows the text is thought to be the text that was found once more, so
    that a guess may run beyond its end.
    """

    def __init__(self, *, repeats: bool = False) -> None:
        self._repeats = repeats
        self.tokens = array("i")
        self._heads = [array("i", [-1]) * _BUCKETS for _ in _ORDERS]
        self._chains = [array("i") for _ in _ORDERS]

    def __len__(self) -> int:
        return len(self.tokens)

    def append(self, token: int) -> None:
        """The text goes on with ``token``, any int32; a negative one never matches."""
        at = len(self.tokens)
        buckets = _buckets(self.tokens, at)
        for heads, chain, bucket in zip(self._heads, self._chains, buckets, strict=True):
            if bucket < 0:
                chain.append(-1)
            else:
                chain.append(heads[bucket])
                heads[bucket] = at
        self.tokens.append(token)

    def extend(self, tokens: Iterable[int]) -> None:
        """The text goes on with ``tokens``."""
        for token in tokens:
            self.append(token)

    def cut(self, length: int) -> None:
        """The text ends after its first ``length`` tokens."""
        for at in range(len(self.tokens) - 1, length - 1, -1):
            self.tokens.pop()
            buckets = _buckets(self.tokens, at)
            for heads, chain, bucket in zip(self._heads, self._chains, buckets, strict=True):
                earlier = chain.pop()
                if bucket >= 0:
                    heads[bucket] = earlier

    def tail(self) -> array[int]:
        """Its last tokens, as many as a match may have."""
        return self.tokens[-LONGEST:]

    def agreeing(self, at: int, tail: array[int]) -> int:
        """How many of the tokens before the position ``at`` are those at the end of ``tail``."""
        tokens, most, count = self.tokens, min(len(tail), at), 0
        if most == len(tail) and tokens[at - most : at] == tail:
            return most
        while count < most and tokens[at - 1 - count] == tail[-1 - count]:
            count += 1
        return count

    def found(self, tail: array[int], least: int, below: int = LONGEST) -> tuple[int, list[int]]:
        """The longest match of ``least`` or more tokens at the end of ``tail``, and the positions
        after it, newest first; 0 and none where there is none. Orders above ``below`` are not
        asked.
        """
        buckets = _buckets(tail, len(tail))
        for index, order in enumerate(_ORDERS):
            if order <= below and order >= least and buckets[index] >= 0:
                match, positions = self._best(index, buckets[index], tail)
                if positions:
                    return match, positions
        return 0, []

    def continued(self, positions: list[int], most: int) -> tuple[int, tuple[int, ...]]:
        """What followed ``positions``, of which each token is the most frequent one, else the
        newest; and the newest position that all of it followed.
        """
        going, out = positions[:_VOICES], list[int]()
        while len(out) < most:
            said = self._said(going, out)
            if said.count(said[0]) < len(said):
                token = _most_frequent(said)
                going = [at for at, one in zip(going, said, strict=True) if one == token]
            else:
                token = said[0]
            if token < 0:
                break
            out.append(token)
        return going[0], tuple(out)

    def _best(self, index: int, bucket: int, tail: array[int]) -> tuple[int, list[int]]:
        at, chain, order = self._heads[index][bucket], self._chains[index], _ORDERS[index]
        best, positions = order, list[int]()
        for _ in range(_LOOKED_AT):
            # Further ones have no voice.
            if at < 0 or (best == LONGEST and len(positions) == _VOICES):
                break
            match = self.agreeing(at, tail)
            if match > best:
                best, positions = match, [at]
            elif match == best:
                positions.append(at)
            at = chain[at]
        return best, positions

    def _said(self, going: list[int], out: list[int]) -> list[int]:
        """What follows ``out`` at each of ``going``; negative where nothing does."""
        tokens, end, ahead = self.tokens, len(self.tokens), len(out)
        if self._repeats:
            places = [at + ahead for at in going]
            return [tokens[at] if at < end else out[at - end] for at in places]
        return [tokens[at + ahead] if at + ahead < end else -1 for at in going]


def _most_frequent(said: list[int]) -> int:
    """Of what is a token, the most frequent, else the first."""
    counts: dict[int, int] = {}
    for token in said:
        if token >= 0:
            counts[token] = counts.get(token, 0) + 1
    return max(counts, key=counts.__getitem__)


def _buckets(tokens: Sequence[int], end: int) -> tuple[int, int, int]:
    """By order, where the tokens before ``end`` are filed; -1 for an order that is longer."""
    value, filed = 2166136261, [-1, -1, -1]
    for count in range(1, min(end, _ORDERS[0]) + 1):
        # FNV-1a over whole words.
        value = ((value ^ tokens[end - count]) * 16777619) & _WORD
        if count in _ORDERS:
            filed[_ORDERS.index(count)] = (value ^ (value >> 16)) & (_BUCKETS - 1)
    return filed[0], filed[1], filed[2]
