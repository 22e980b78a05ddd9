"""Noise on what goes into an adapter, where the original protocol has it: after the layers.

It hides a hidden state from whoever evaluates the adapter. Here that is the server, which has
computed the state itself: the noise protects from nobody, and is off by default.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_privacy.errors import InvalidPrivacyParameter
from split_privacy.mechanism import RowMechanism
from split_privacy.prf import NO_HISTORY, NoiseContext, RowName, RowStreams
from split_server.original.experts.errors import AdapterNoiseUnusable

DELTA = 1e-5


@dataclass(frozen=True, slots=True)
class InputNoise:
    """Rows are clipped to norm ``mechanism.clip``; then a discrete Gaussian is added."""

    mechanism: RowMechanism

    @classmethod
    def for_epsilon(cls, epsilon: float, clip: float, hidden_size: int) -> InputNoise:
        """The least noise with which one row of any content is (epsilon, 1e-5)-private.

        Two clipped rows are at most ``2 * clip`` apart. Raises AdapterNoiseUnusable.
        """
        sensitivity = 2.0 * clip
        try:
            return cls(RowMechanism.for_epsilon(epsilon, DELTA, clip, sensitivity, hidden_size))
        except InvalidPrivacyParameter as error:
            raise AdapterNoiseUnusable(str(error)) from error

    @property
    def sigma(self) -> float:
        """Standard deviation in each coordinate."""
        return self.mechanism.sigma

    @property
    def epsilon(self) -> float:
        """Of one row, at delta 1e-5; k rows that belong together spend more."""
        return self.mechanism.epsilon(DELTA)

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """``rows`` [n, H], clipped and noised from a key that is drawn for them alone."""
        context = NoiseContext(
            os.urandom(32), "adapter input", self.sigma, self.mechanism.clip, "", "f32"
        )
        names = [RowName(index, 0, NO_HISTORY) for index in range(rows.shape[0])]
        return self.mechanism.release(rows, names, RowStreams(context))
