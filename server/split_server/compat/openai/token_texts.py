"""The text of single tokens, for answers that list them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from split_client.generation.detokenizer import Decoder, Detokenizer
from split_client.generation.sampling.logprobs import TokenLogprobs

_CACHED = 1 << 16


@dataclass(frozen=True, slots=True)
class ScoredToken:
    """``offset``: characters of the text before it; ``logprob``: None of the first token of a
    prompt, which nothing goes before; ``top``: texts and logprobs of the most likely tokens,
    falling.
    """

    text: str
    offset: int
    logprob: float | None
    top: tuple[tuple[str, float], ...]


class TokenTexts:
    """``anchor``: ids of any letter. Tokens are decoded behind them, because some decoders drop
    the space that a text begins with.
    """

    def __init__(self, decoder: Decoder, anchor: Sequence[int]) -> None:
        self._decoder = decoder
        self._anchor = list(anchor[-1:])
        self._before = len(decoder.decode(self._anchor, skip_special_tokens=False))
        self.text = lru_cache(_CACHED)(self._text)

    def scorer(self) -> TokenScorer:
        """For one reply, from its first token on."""
        return TokenScorer(self, Detokenizer(self._decoder))

    def of_prompt(
        self, prompt: Sequence[int], scores: Sequence[TokenLogprobs]
    ) -> tuple[ScoredToken, ...]:
        """The tokens of a prompt, with the scores of all but the first."""
        scorer = self.scorer()
        first = scorer.push(prompt[0], None)
        rest = zip(prompt[1:], scores, strict=True)
        return (first, *(scorer.push(token, known) for token, known in rest))

    def _text(self, token: int) -> str:
        whole = self._decoder.decode([*self._anchor, token], skip_special_tokens=False)
        return whole[self._before :]


class TokenScorer:
    """Follows one reply and says where in its text each token stands."""

    def __init__(self, texts: TokenTexts, detokenizer: Detokenizer) -> None:
        self._texts = texts
        self._detokenizer = detokenizer
        self._offset = 0

    def push(self, token: int, scores: TokenLogprobs | None) -> ScoredToken:
        """The next token; None: nothing is known of it."""
        text, begun = self._texts.text(token), self._offset
        piece = self._detokenizer.push(token)
        self._offset += len(piece)
        # A piece may begin with what tokens before this one have left unfinished.
        offset = self._offset - len(text) if piece.endswith(text) else begun
        if scores is None:
            return ScoredToken(text, offset, None, ())
        top = tuple((self._texts.text(other), logprob) for other, logprob in scores.top)
        return ScoredToken(text, offset, scores.logprob, top)
