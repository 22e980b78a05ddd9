"""Frames of a WebSocket as bytes."""

from __future__ import annotations


def websocket_frame(payload: bytes) -> bytes:
    """A masked binary frame (RFC 6455, 5.2) of at most 125 bytes."""
    masked = bytes(byte ^ b"mask"[index % 4] for index, byte in enumerate(payload))
    return bytes([0x82, 0x80 | len(payload)]) + b"mask" + masked
