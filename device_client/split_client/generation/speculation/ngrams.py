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

    def agreeing(self, at: int, tail: Sequence[int]) -> int:
        """How many of the tokens before the position ``at`` are those at the end of ``tail``."""
        tokens, most, count = self.tokens, min(len(tail), at), 0
        while count < most and tokens[at - 1 - count] == tail[-1 - count]:
            count += 1
        return count

    def found(self, tail: Sequence[int], least: int, below: int = LONGEST) -> tuple[int, list[int]]:
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
            said: dict[int, list[int]] = {}
            for at in going:
                token = self._after(at, out)
                if token >= 0:
                    said.setdefault(token, []).append(at)
            if not said:
                break
            token = max(said, key=lambda one: len(said[one]))
            going = said[token]
            out.append(token)
        return going[0], tuple(out)

    def _best(self, index: int, bucket: int, tail: Sequence[int]) -> tuple[int, list[int]]:
        at, chain, order = self._heads[index][bucket], self._chains[index], _ORDERS[index]
        best, positions = order, list[int]()
        for _ in range(_LOOKED_AT):
            if at < 0:
                break
            match = self.agreeing(at, tail)
            if match > best:
                best, positions = match, [at]
            elif match == best:
                positions.append(at)
            at = chain[at]
        return best, positions

    def _after(self, at: int, out: list[int]) -> int:
        place = at + len(out)
        if place < len(self.tokens):
            return self.tokens[place]
        return out[place - len(self.tokens)] if self._repeats else -1


def _buckets(tokens: Sequence[int], end: int) -> tuple[int, int, int]:
    """By order, where the tokens before ``end`` are filed; -1 for an order that is longer."""
    value, filed = 2166136261, [-1, -1, -1]
    for count in range(1, min(end, _ORDERS[0]) + 1):
        # FNV-1a over whole words.
        value = ((value ^ tokens[end - count]) * 16777619) & _WORD
        if count in _ORDERS:
            filed[_ORDERS.index(count)] = (value ^ (value >> 16)) & (_BUCKETS - 1)
    return filed[0], filed[1], filed[2]
