"""Shapes of an adapter's messages: its packing, and exact lengths of keys, queries and replies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from split_he import scales
from split_he.errors import HeError
from split_he.wire import KEY_BYTES, query_bytes, reply_bytes
from split_masks.numbers import numbers_bytes
from split_server.adapter_host.errors import HostUnusable
from split_server.adapter_host.sessions import NONCE_BYTES, SESSION_BYTES
from split_server.adapters.adapter_file import AdapterFile

NUMBER_BYTES = 8
COUNT_BYTES = 2
KEY_HEAD = SESSION_BYTES + NONCE_BYTES
QUERY_HEAD = SESSION_BYTES + NUMBER_BYTES
RESERVE_BYTES = SESSION_BYTES + 2 * COUNT_BYTES


@dataclass(frozen=True, slots=True)
class Terms:
    """``packing``: the document of ``split_he.layout.Packing``; bytes of a public key, a query, a
    reply and a masked state.
    """

    packing: Mapping[str, int | float]
    key: int
    query: int
    reply: int
    masked: int


def ckks_terms(adapter: AdapterFile, activation_rms: float) -> Terms:
    """Those of ``adapter`` for hidden states of a root mean square up to ``activation_rms``.

    Raises HostUnusable for a matrix without a packing.
    """
    try:
        plan = scales.choose(adapter.a, activation_rms * math.sqrt(adapter.hidden_size))
    except HeError as error:
        raise HostUnusable(f"adapter {adapter.name!r}: {error}") from error
    sizes = KEY_BYTES, query_bytes(plan), reply_bytes(plan), numbers_bytes(plan.hidden)
    return Terms(plan.document(), *sizes)


@dataclass(frozen=True, slots=True)
class KeyBody:
    """``session`` (16 bytes), device nonce (32), public key."""

    session: bytes
    device_nonce: bytes
    public: bytes

    @classmethod
    def parse(cls, body: bytes) -> KeyBody:
        """``body`` has the exact length already."""
        return cls(body[:SESSION_BYTES], body[SESSION_BYTES:KEY_HEAD], body[KEY_HEAD:])


@dataclass(frozen=True, slots=True)
class QueryBody:
    """``session`` (16 bytes), ``number`` (u64 LE), then ``query``: a query, or a masked state."""

    session: bytes
    number: int
    query: bytes

    @classmethod
    def parse(cls, body: bytes) -> QueryBody:
        """``body`` has the exact length already."""
        number = int.from_bytes(body[SESSION_BYTES:QUERY_HEAD], "little")
        return cls(body[:SESSION_BYTES], number, body[QUERY_HEAD:])


@dataclass(frozen=True, slots=True)
class ReserveBody:
    """``session`` (16 bytes), ``ordinal`` of the range (u16 LE, from 1), ``count`` (u16 LE)."""

    session: bytes
    ordinal: int
    count: int

    @classmethod
    def parse(cls, body: bytes) -> ReserveBody:
        """``body`` has the exact length already."""
        ordinal = int.from_bytes(body[SESSION_BYTES : SESSION_BYTES + COUNT_BYTES], "little")
        count = int.from_bytes(body[SESSION_BYTES + COUNT_BYTES :], "little")
        return cls(body[:SESSION_BYTES], ordinal, count)
