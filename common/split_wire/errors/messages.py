"""Frames, messages and tensors that are not what the wire carries."""

from __future__ import annotations

from split_wire.errors.base import SplitError


class MalformedFrame(SplitError):
    """Bytes that are not a frame: wrong magic, cut short, or with bytes left over."""

    code = "malformed_frame"

    def __init__(self, reason: str) -> None:
        super().__init__(f"not a split.v1 frame: {reason}; send the frame again, whole")


class FrameTooLarge(SplitError):
    """A frame or body longer than the receiver accepts (sizes in bytes)."""

    code = "frame_too_large"
    status = 413

    def __init__(self, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(
            f"frame of {size} bytes exceeds the limit of {limit} bytes; send fewer rows in one step"
        )


class MalformedMessage(SplitError):
    """A well-framed message with a missing or ill-typed field."""

    code = "malformed_message"

    def __init__(self, reason: str) -> None:
        super().__init__(f"malformed message: {reason}")


class UnknownMessage(SplitError):
    """A message type that the receiver does not know."""

    code = "unknown_message"

    def __init__(self, kind: str) -> None:
        super().__init__(f"unknown message type {kind[:40]!r}; see docs/protocol.md for the types")


class UnsupportedVersion(SplitError):
    """Another wire version than ours."""

    code = "unsupported_version"

    def __init__(self, version: int, supported: int) -> None:
        super().__init__(f"wire version {version} is not supported, this server speaks {supported}")


class WrongDtype(SplitError):
    """A tensor dtype that the wire does not carry."""

    code = "wrong_dtype"

    def __init__(self, dtype: str) -> None:
        super().__init__(f"dtype {dtype[:20]!r} is not one of f32, f16, bf16, i8")


class WrongShape(SplitError):
    """A tensor whose shape is not what the message needs."""

    code = "wrong_shape"

    def __init__(self, shape: tuple[int, ...], wanted: str) -> None:
        super().__init__(f"tensor of shape {list(shape)} where {wanted} is needed")


class WrongHiddenSize(SplitError):
    """Rows of another width than the model's."""

    code = "wrong_hidden_size"

    def __init__(self, got: int, wanted: int) -> None:
        super().__init__(
            f"rows are {got} wide, this model's hidden size is {wanted}; pull the weights again"
        )


class NonFinite(SplitError):
    """A tensor with NaN or infinite values."""

    code = "non_finite"

    def __init__(self) -> None:
        super().__init__("the tensor holds NaN or infinite values; nothing was cached")


class HiddenOverflow(SplitError):
    """Hidden states beyond the range of the dtype that they are computed or travel in."""

    code = "hidden_overflow"
    status = 500

    def __init__(self) -> None:
        super().__init__(
            "the model's hidden states overflow their dtype; nothing was cached: "
            "open the session with dtype f32, or start the server with --dtype float32"
        )


class TooManyRows(SplitError):
    """More rows in one step than the limit."""

    code = "too_many_rows"

    def __init__(self, rows: int, limit: int) -> None:
        super().__init__(f"{rows} rows in one step exceed the limit of {limit}; send several steps")


class AttentionTooLarge(SplitError):
    """More attention than one answer may carry (sizes in bytes)."""

    code = "attention_too_large"
    status = 413

    def __init__(self, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(
            f"{size} bytes of attention exceed the limit of {limit} bytes; "
            "ask for top_k, for the mean or maximum over heads, or for f16"
        )
