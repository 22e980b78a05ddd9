"""Malformed frames about rows that a server may hold already."""

from __future__ import annotations

from typing import Any

from scripts.vectors.wire.messages import CHAIN, PROBE, SESSION, frame, padded
from split_wire.digest import DIGEST_BYTES
from split_wire.probe import BLOCK, MAX_DIGESTS, probe_value

_BAD = "malformed_message"
_ASKED = dict(probe_value(PROBE))
_OPEN: dict[str, Any] = {"type": "open", "version": 1, **_ASKED}
_RESTORE: dict[str, Any] = {
    "type": "restore",
    "session": SESSION,
    "start": 0,
    "prefix": CHAIN.at(0),
    **_ASKED,
}
_OPENED: dict[str, Any] = {
    "type": "opened",
    "version": 1,
    "session": SESSION,
    "manifest": "m",
    "dtype": "f32",
    "max_rows": 512,
    "max_context": 4096,
}
_RESTORED: dict[str, Any] = {
    "type": "restored",
    "session": SESSION,
    "start": 0,
    "known": 40,
    "cached": 0,
    "prefix": CHAIN.at(0),
}
# What is wrong, and the fields that make it so.
_WRONG: list[tuple[str, dict[str, Any]]] = [
    ("a stride of 0", {"stride": 0}),
    ("a stride of 8", {"stride": 8}),
    ("a stride of 24", {"stride": 24}),
    ("a stride that is true", {"stride": True}),
    ("no stride", {"stride": None}),
    ("no digests", {"digests": None}),
    ("digests that are text", {"digests": "x" * 48}),
    ("a digest too few", {"digests": bytes(32)}),
    ("a digest too many", {"digests": bytes(64)}),
    ("a digest cut short", {"digests": bytes(47)}),
    ("a known of true", {"known": True}),
    ("a known below zero", {"known": -1}),
]


def questions() -> list[tuple[str, bytes, str]]:
    """To a server: name, frame, code."""
    return [
        *[_changed(_OPEN, "open", name, fields) for name, fields in _WRONG],
        *[_changed(_RESTORE, "restore", name, fields) for name, fields in _WRONG],
        ("open with more than 2049 digests", frame({**_OPEN, **_many()}), _BAD),
        *[_without(_RESTORE, name) for name in ("session", "start", "prefix", "known")],
        _changed(_RESTORE, "restore", "no rows", {"known": 0}),
        _changed(_RESTORE, "restore", "a prefix of 15 bytes", {"prefix": bytes(15)}),
        _changed(_RESTORE, "restore", "a negative start", {"start": -1}),
        ("open with a cache of another word", frame({**_OPEN, "cache": "on"}), "unknown_cache"),
        ("open with a tier of no rows", frame({**_OPEN, "cache": "nearly"}), "unknown_cache"),
        _changed(_OPEN, "open", "a cache that is true", {"cache": True}),
        _changed(_OPEN, "open", "a salt that is bytes", {"cache_salt": b"salt"}),
        _changed(_OPEN, "open", "a salt that is long", {"cache_salt": "s" * 201}),
        _changed(_OPEN, "open", "a group that is bytes", {"cache_group": b"family"}),
        _changed(_OPEN, "open", "a group that is long", {"cache_group": "g" * 201}),
        _changed(_OPEN, "open", "less than no rows shared", {"share_until": -1}),
        _changed(_OPEN, "open", "a part of a row shared", {"share_until": 1.5}),
        _changed(_OPEN, "open", "true rows shared", {"share_until": True}),
        _changed(_OPEN, "open", "a wait that is a number", {"wait": 1}),
        ("an answer in place of a question", frame(_RESTORED), "unknown_message"),
    ]


def answers() -> list[tuple[str, bytes, str]]:
    """To a device: name, frame, code."""
    result = {"type": "result", "session": SESSION, "step": 1, "cached": 1, "reused": -1}
    return [
        _changed(_OPENED, "opened", "less than no rows", {"cached": -1}),
        _changed(_OPENED, "opened", "a short name", {"cached": 1, "prefix": bytes(8)}),
        *[_without(_RESTORED, name) for name in ("session", "start", "known", "cached", "prefix")],
        _changed(_RESTORED, "restored", "a short prefix", {"prefix": bytes(15)}),
        _changed(_RESTORED, "restored", "a part of a row", {"cached": 1.0}),
        _changed(_RESTORED, "restored", "tiers that are a list", {"tiers": [1]}),
        _changed(_RESTORED, "restored", "less than no int8 rows", {"tiers": {"int8": -1}}),
        _changed(_OPENED, "opened", "a tier of true", {"tiers": {"approximate": True}}),
        ("result with less than no rows in vain", _with_hidden(result), _BAD),
        ("a question in place of an answer", frame(_RESTORE), "unknown_message"),
    ]


def _changed(
    header: dict[str, Any], kind: str, name: str, fields: dict[str, Any]
) -> tuple[str, bytes, str]:
    return f"{kind} with {name}", frame({**header, **fields}), _BAD


def _without(header: dict[str, Any], name: str) -> tuple[str, bytes, str]:
    left = {key: value for key, value in header.items() if key != name}
    return f"{header['type']} without {name}", frame(left), _BAD


def _many() -> dict[str, Any]:
    """As many digests as positions ask for, and one more than a server reads."""
    count = MAX_DIGESTS + 1
    return {"known": BLOCK * count, "stride": BLOCK, "digests": bytes(DIGEST_BYTES * count)}


def _with_hidden(header: dict[str, Any]) -> bytes:
    return padded({**header, "tensors": [["hidden", "f32", [1, 2]]]}, bytes(8))
