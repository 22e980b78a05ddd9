"""Every error that can travel between device and server, one tree under :class:`SplitError`.

Each class has a stable ``code`` (what programs compare), a message that says what to do,
``retryable`` (whether the same request may succeed later, unchanged) and the HTTP ``status`` it is
answered with::

    SplitError
    ├── MalformedFrame, FrameTooLarge, MalformedMessage, UnknownMessage, UnsupportedVersion
    ├── WrongDtype, WrongShape, WrongHiddenSize, NonFinite, HiddenOverflow, TooManyRows
    ├── AttentionTooLarge
    ├── UnknownSession, StepConflict, PrefixMismatch, StartBeyondCache, ContextOverflow
    ├── SpansRefused, ChunkGone
    ├── ModelChanged, TooManySessions, CacheFull, Overloaded, ShuttingDown, ModelStopped
    ├── ModelLoading, ModelBusy, ModelUnusable
    ├── UnknownAdapter, UnknownCache, UnknownCacheGroup, UnknownModel, Unsupported, Unauthorized
    ├── OperatorNeeded, ForbiddenOrigin, ForbiddenHost, TokenizeDisabled, NotFound
    ├── InternalError
    └── RemoteError (any of them, as the device received it)
"""

from split_wire.errors.access import (
    ForbiddenHost,
    ForbiddenOrigin,
    NotFound,
    OperatorNeeded,
    TokenizeDisabled,
    Unauthorized,
    UnknownAdapter,
    UnknownCache,
    UnknownCacheGroup,
    UnknownModel,
    Unsupported,
)
from split_wire.errors.base import RemoteError, SplitError
from split_wire.errors.capacity import (
    CacheFull,
    InternalError,
    ModelBusy,
    ModelLoading,
    ModelStopped,
    ModelUnusable,
    Overloaded,
    ShuttingDown,
    TooManySessions,
)
from split_wire.errors.messages import (
    AttentionTooLarge,
    FrameTooLarge,
    HiddenOverflow,
    MalformedFrame,
    MalformedMessage,
    NonFinite,
    TooManyRows,
    UnknownMessage,
    UnsupportedVersion,
    WrongDtype,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.errors.sessions import (
    ChunkGone,
    ContextOverflow,
    ModelChanged,
    PrefixMismatch,
    SpansRefused,
    StartBeyondCache,
    StepConflict,
    UnknownSession,
)

__all__ = [
    "AttentionTooLarge",
    "CacheFull",
    "ChunkGone",
    "ContextOverflow",
    "ForbiddenHost",
    "ForbiddenOrigin",
    "FrameTooLarge",
    "HiddenOverflow",
    "InternalError",
    "MalformedFrame",
    "MalformedMessage",
    "ModelBusy",
    "ModelChanged",
    "ModelLoading",
    "ModelStopped",
    "ModelUnusable",
    "NonFinite",
    "NotFound",
    "OperatorNeeded",
    "Overloaded",
    "PrefixMismatch",
    "RemoteError",
    "ShuttingDown",
    "SpansRefused",
    "SplitError",
    "StartBeyondCache",
    "StepConflict",
    "TokenizeDisabled",
    "TooManyRows",
    "TooManySessions",
    "Unauthorized",
    "UnknownAdapter",
    "UnknownCache",
    "UnknownCacheGroup",
    "UnknownMessage",
    "UnknownModel",
    "UnknownSession",
    "Unsupported",
    "UnsupportedVersion",
    "WrongDtype",
    "WrongHiddenSize",
    "WrongShape",
]
