"""The names of a prompt's prefixes, as sessions in this process have them."""

from __future__ import annotations

from collections.abc import Sequence

from split_client.model.ends import DeviceEnds
from split_wire.digest import PrefixChain
from split_wire.tensor import Tensor, WireDtype

# Rows that are in memory at a time.
_ROWS = 512


def prompt_chain(ends: DeviceEnds, ids: Sequence[int], dtype: WireDtype) -> PrefixChain:
    """The chain over the rows of ``ids`` in ``dtype``; it embeds and hashes all of them."""
    chain = PrefixChain(ends.manifest.digest)
    for start in range(0, len(ids), _ROWS):
        rows = ends.embedder.lookup(list(ids[start : start + _ROWS]), dtype)
        chain.replace(start, chain.following(start, Tensor.from_f32(rows, dtype)))
    return chain


def digests_of(chain: PrefixChain) -> list[bytes]:
    """The digest after each position."""
    return [chain.at(position) for position in range(1, len(chain) + 1)]
