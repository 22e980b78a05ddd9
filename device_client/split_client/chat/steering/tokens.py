"""The tokens of a reply, and what else the model could have said at each of them.

What is kept is the state that each token was chosen from, which is on the device already; the
probabilities are computed from it when somebody asks. So a token costs one copy of its state, no
byte travels, and the numbers are those that asking at once would have given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from split_client.generation.detokenizer import Decoder
from split_client.generation.head.head import LMHead
from split_client.generation.sampling.logprobs import (
    MAX_TOP_LOGPROBS,
    TokenLogprobs,
    token_logprobs,
)

# Bytes of the states of one chat's replies, the newest first.
MOST_BYTES = 32 << 20


@dataclass(slots=True)
class Kept:
    """A token and the state float32 [H] that it was chosen from; None where the form left no
    choice, and where it is not kept (any more).
    """

    token: int
    state: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that could have come; ``logprob`` in nats, under the model alone. ``text``: as it
    would follow what comes before; of a control token its name.
    """

    token: int
    text: str
    logprob: float

    @property
    def probability(self) -> float:
        """0 to 1."""
        return math.exp(self.logprob)


@dataclass(slots=True)
class ReplyToken:
    """One token of a reply; what is told of it is computed when it is first asked for.

    ``control``: it is no part of what the reply says; ``text`` is its name then.
    """

    id: int
    text: str
    control: bool
    _state: NDArray[np.float32] | None
    _head: LMHead
    _text_of: _TextAfter
    _found: TokenLogprobs | None = field(default=None, repr=False)

    @property
    def known(self) -> bool:
        """Whether its probability and its alternatives are."""
        return self._state is not None

    @property
    def logprob(self) -> float | None:
        """Of the token under the model alone, before anything that the sampler does; None where
        that is not kept.
        """
        found = self._likely()
        return None if found is None else found.logprob

    @property
    def probability(self) -> float | None:
        """The same from 0 to 1."""
        logprob = self.logprob
        return None if logprob is None else math.exp(logprob)

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The 20 most likely tokens at its place, itself often among them, the likeliest first;
        none where they are not kept. With the compact head as far as its estimates hold.
        """
        found = self._likely()
        if found is None:
            return ()
        return tuple(Alternative(token, self._text_of(token), p) for token, p in found.top)

    def prepare(self) -> None:
        """Compute what is told of it now, which takes one pass of the head."""
        self._likely()

    def _likely(self) -> TokenLogprobs | None:
        if self._found is None and self._state is not None:
            self._found = token_logprobs(self._head, self._state, self.id, MAX_TOP_LOGPROBS)
        return self._found


@dataclass(frozen=True, slots=True)
class _TextAfter:
    """The text of a token behind another one, or at the beginning."""

    decoder: Decoder
    before: tuple[int, ...]

    def __call__(self, token: int) -> str:
        decode = self.decoder.decode
        known = decode(list(self.before))
        text = decode([*self.before, token])[len(known) :]
        return text or decode([token], skip_special_tokens=False)


class TokenLog:
    """The tokens of one reply as they come; ``begun``: those that are there before.

    ``prompt``: what they follow. ``most_bytes`` of states, the newest ones.
    """

    def __init__(
        self,
        head: LMHead,
        decoder: Decoder,
        prompt: Sequence[int],
        begun: Iterable[Kept] = (),
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._head, self._decoder = head, decoder
        self._prompt = tuple(prompt[-1:])
        self._most = most_bytes
        self.kept: list[Kept] = []
        self.bytes = 0
        self._oldest = 0
        for kept in begun:
            self.take(kept.token, kept.state)

    def take(self, token: int, state: NDArray[np.float32] | None) -> None:
        """``token`` was chosen from ``state``, which the caller may use again."""
        if state is None or state.nbytes > self._most:
            self.kept.append(Kept(token))
            return
        # A view would hold all of the step that brought it.
        own = np.array(state, np.float32)
        self.kept.append(Kept(token, own))
        self.bytes += own.nbytes
        self.shrink(self._most)

    def shrink(self, most: int) -> None:
        """Give up states, the oldest first, until they have ``most`` bytes."""
        while self.bytes > most:
            state = self.kept[self._oldest].state
            if state is not None:
                self.bytes -= state.nbytes
                self.kept[self._oldest].state = None
            self._oldest += 1

    def tokens(self) -> tuple[ReplyToken, ...]:
        """All so far."""
        found, before = list[ReplyToken](), self._prompt
        for kept in self.kept:
            found.append(self._token(kept, _TextAfter(self._decoder, before)))
            before = (kept.token,)
        return tuple(found)

    def _token(self, kept: Kept, text_of: _TextAfter) -> ReplyToken:
        text = text_of(kept.token)
        control = bool(text) and not self._decoder.decode([kept.token] * 2)
        return ReplyToken(kept.token, text, control, kept.state, self._head, text_of)
