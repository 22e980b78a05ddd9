"""Vectors of the ``split.v1`` wire; their layout is described in tests/vectors/README.md."""

from __future__ import annotations

from typing import Any

from scripts.vectors.wire.conversation import conversation
from scripts.vectors.wire.malformed import malformed
from scripts.vectors.wire.messages import messages, tolerated
from scripts.vectors.wire.numbers import chains, fingerprints, refused_tensors, rounding
from scripts.vectors.wire.resumption import resumption


def build() -> dict[str, Any]:
    return {
        "format": 1,
        "messages": messages(),
        "tolerated": tolerated(),
        "conversation": conversation(),
        "resumption": resumption(),
        "malformed": malformed(),
        "rounding": rounding(),
        "refused_tensors": refused_tensors(),
        "chains": chains(),
        "fingerprints": fingerprints(),
    }
