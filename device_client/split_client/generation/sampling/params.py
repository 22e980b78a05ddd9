"""Parameters of the sampler that a user may set, checked once."""

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from split_client.generation.errors import InvalidSamplingParameter

MAX_BIASED_TOKENS: Final = 1024
_SEEDS: Final = 2**64


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """The choice of the next token; the defaults are greedy. Raises InvalidSamplingParameter.

    ``temperature`` 0 is greedy; ``top_k`` 0, ``top_p`` 1 and ``min_p`` 0 are off. Penalties and
    ``logit_bias`` also apply to greedy choices. ``seed`` None asks for a random one. ``banned``
    token ids, any number of them, are never chosen. ``repetition_range``: the last tokens that the
    repetition penalty looks at, 0 for all.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int | None = None
    logit_bias: Mapping[int, float] = field(default_factory=dict, hash=False)
    banned: frozenset[int] = frozenset()
    repetition_range: int = 0

    def __post_init__(self) -> None:
        self._real("temperature", 0.0 <= _number(self.temperature) <= 100.0, "in 0..100, 0: greedy")
        self._whole("top_k", "a whole number, 0: off", at_most=2**31 - 1)
        self._real("top_p", 0.0 < _number(self.top_p) <= 1.0, "above 0 and at most 1, 1: off")
        self._real("min_p", 0.0 <= _number(self.min_p) <= 1.0, "in 0..1, 0: off")
        self._real(
            "repetition_penalty", 0.01 <= _number(self.repetition_penalty) <= 100.0, "in 0.01..100"
        )
        for name in ("presence_penalty", "frequency_penalty"):
            self._real(name, abs(_number(getattr(self, name))) <= 2.0, "in -2..2")
        self._whole("repetition_range", "a whole number, 0: all", at_most=2**31 - 1)
        if self.seed is not None:
            self._whole("seed", "a whole number in 0..2^64-1, or none", at_most=_SEEDS - 1)
        self._check_bias()
        self._check_banned()

    def _real(self, name: str, inside: bool, allowed: str) -> None:
        if not inside:
            raise InvalidSamplingParameter(name, getattr(self, name), allowed)

    def _whole(self, name: str, allowed: str, at_most: int) -> None:
        value = getattr(self, name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= at_most:
            raise InvalidSamplingParameter(name, value, allowed)

    def _check_bias(self) -> None:
        bias = self.logit_bias
        allowed = f"at most {MAX_BIASED_TOKENS} token ids with a number in -100..100 each"
        if not isinstance(bias, Mapping) or len(bias) > MAX_BIASED_TOKENS:
            raise InvalidSamplingParameter("logit_bias", type(bias).__name__, allowed)
        for token_id, value in bias.items():
            if not _is_token_id(token_id):
                raise InvalidSamplingParameter("logit_bias", token_id, allowed)
            if not abs(_number(value)) <= 100.0:
                raise InvalidSamplingParameter("logit_bias", value, allowed)
        object.__setattr__(self, "logit_bias", MappingProxyType(dict(bias)))

    def _check_banned(self) -> None:
        allowed = "a set of token ids"
        if not isinstance(self.banned, Set):
            raise InvalidSamplingParameter("banned", type(self.banned).__name__, allowed)
        for token_id in self.banned:
            if not _is_token_id(token_id):
                raise InvalidSamplingParameter("banned", token_id, allowed)
        object.__setattr__(self, "banned", frozenset(self.banned))


def _is_token_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: object) -> float:
    """``value`` as a float, NaN (outside every range) where it is not a number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return math.nan
