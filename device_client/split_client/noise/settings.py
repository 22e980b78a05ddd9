"""A user's settings of noised mode."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from split_client.noise.errors import NoiseSettingInvalid
from split_privacy.prf import KEY_BYTES

DEFAULT_DELTA = 1e-5
DEFAULT_IDENTITY = "default"
_LONGEST_IDENTITY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseSettings:
    """Either ``epsilon`` (of one token replaced, each time that it is sent, at ``delta``) or
    ``sigma`` (of the noise in every value).

    ``clip``: rows are scaled down to this norm; None: the norm that 99% of the table's rows do not
    exceed. ``budget_epsilon``: the most that may be lost when everything that was ever sent is
    replaced, at ``delta``, over all conversations, models and restarts that share ``ledger``
    (None: one file per user) and ``identity`` (whose losses are added up). ``key``: 32 secret bytes
    that all conversations use, so that a prompt that is sent again, after a restart too, repeats
    its noise and spends nothing; None: each conversation has a random key in memory.

    Raises NoiseSettingInvalid.
    """

    epsilon: float | None = None
    sigma: float | None = None
    delta: float = DEFAULT_DELTA
    clip: float | None = None
    budget_epsilon: float | None = None
    ledger: Path | None = None
    identity: str = DEFAULT_IDENTITY
    key: bytes | None = None

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.sigma is None):
            raise NoiseSettingInvalid("noise is either an epsilon or a sigma; give one of the two")
        for name in ("epsilon", "sigma", "clip", "budget_epsilon"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < math.inf:
                raise NoiseSettingInvalid(f"noise {name} is {value!r}; it is a number above 0")
        if not 0.0 < self.delta < 1.0:
            raise NoiseSettingInvalid(f"noise delta is {self.delta!r}; it is between 0 and 1")
        if not 0 < len(self.identity) <= _LONGEST_IDENTITY:
            raise NoiseSettingInvalid(f"a noise identity has 1 to {_LONGEST_IDENTITY} characters")
        if self.key is not None and len(self.key) != KEY_BYTES:
            raise NoiseSettingInvalid(f"a noise key has {KEY_BYTES} bytes")

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__slots__ if name != "key")
        return f"NoiseSettings({', '.join(shown)})"


def default_ledger() -> Path:
    """Among this user's state, not among the caches that may be deleted at any time."""
    return platformdirs.user_state_path("gatelink", appauthor=False) / "noise-ledger.json"
