"""Vectors of the ``split.v1`` wire; their layout is described in tests/vectors/README.md."""

from __future__ import annotations

from typing import Any

from ._wire_conversation import conversation
from ._wire_malformed import malformed
from ._wire_messages import messages, tolerated
from ._wire_numbers import chains, fingerprints, refused_tensors, rounding


def build() -> dict[str, Any]:
    return {
        "format": 1,
        "messages": messages(),
        "tolerated": tolerated(),
        "conversation": conversation(),
        "malformed": malformed(),
        "rounding": rounding(),
        "refused_tensors": refused_tensors(),
        "chains": chains(),
        "fingerprints": fingerprints(),
    }
