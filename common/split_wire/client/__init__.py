"""The device's side of a session as a state machine without I/O; what it is told of answers."""

from split_wire.client.events import (
    ChunksFound,
    Event,
    Ignored,
    OtherDtype,
    ProtocolStateError,
    SessionOpened,
    SessionRestored,
    SpansHidden,
    StepCompleted,
    StepFailed,
    StepReplaced,
)
from split_wire.client.protocol import ClientProtocol

__all__ = [
    "ChunksFound",
    "ClientProtocol",
    "Event",
    "Ignored",
    "OtherDtype",
    "ProtocolStateError",
    "SessionOpened",
    "SessionRestored",
    "SpansHidden",
    "StepCompleted",
    "StepFailed",
    "StepReplaced",
]
