"""Edits of one conversation: a message behind something that was changed is sent anew each time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import Mechanism, PublicModel, clipped


def picked(text: NDArray[np.float32], model: PublicModel, mechanism: Mechanism) -> int:
    """Which of the model's variants ``text`` [n, H] begins with: the nearest one."""
    sent = text.astype(np.float64)
    distances = []
    for variant in model.variants:
        clean = clipped(model.rows(variant).astype(np.float64), mechanism.clip)
        distances.append(float(np.square(sent[: len(variant)] - clean).sum()))
    return int(np.argmin(distances))


def behind(texts: Sequence[NDArray[np.float32]], model: PublicModel) -> list[NDArray[np.float32]]:
    """The rows of the message in each of ``texts``, which begin with variants."""
    before, after = len(model.variants[0]), len(model.suffix)
    return [text[before : len(text) - after] for text in texts]
