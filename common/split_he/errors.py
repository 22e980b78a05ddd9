"""Errors of encrypted adapters, one tree under :class:`HeError`.

Each class has a stable ``code``, what programs compare::

    HeError
    ├── MalformedCiphertext, MalformedKey, MalformedPacking   (what a peer sent)
    ├── InputOutOfRange                                       (a hidden state outside the promise)
    ├── UnsupportedShape, AdapterOutOfRange                   (an adapter that does not fit)
    ├── BlindsExhausted                                       (too many asked to be kept)
    └── HeUnavailable                                         (tenseal is absent or too weak)
"""

from __future__ import annotations


class HeError(Exception):
    """Base of the tree."""

    code: str = "he_error"


class MalformedCiphertext(HeError):
    """A query or a reply that is not exactly what the packing prescribes."""

    code = "malformed_ciphertext"

    def __init__(self, reason: str) -> None:
        super().__init__(f"malformed ciphertext: {reason}")


class MalformedKey(HeError):
    """A public key or a nonce that is not exactly what the protocol prescribes."""

    code = "malformed_key"

    def __init__(self, reason: str) -> None:
        super().__init__(f"malformed public key: {reason}")


class MalformedPacking(HeError):
    """A description of shapes and scales that contradicts itself."""

    code = "malformed_packing"

    def __init__(self, reason: str) -> None:
        super().__init__(f"malformed packing: {reason}")


class InputOutOfRange(HeError):
    """A hidden state that is not finite, or longer than the scales were chosen for."""

    code = "input_out_of_range"

    def __init__(self, norm: float, bound: float) -> None:
        self.norm, self.bound = norm, bound
        super().__init__(
            f"the hidden state has norm {norm:g}, the scales hold up to {bound:g}; "
            "ask the adapter host for a session with a larger bound"
        )


class UnsupportedShape(HeError):
    """A width or rank outside the supported range, or an array of another shape."""

    code = "unsupported_shape"


class AdapterOutOfRange(HeError):
    """Adapter values for which no scales give a useful result."""

    code = "adapter_out_of_range"


class BlindsExhausted(HeError):
    """More blinds asked for than a pool keeps."""

    code = "blinds_exhausted"

    def __init__(self, asked: int, limit: int) -> None:
        super().__init__(f"{asked} blinds asked for, a pool keeps at most {limit}")


class HeUnavailable(HeError):
    """tenseal is not installed, or its context refuses the parameters."""

    code = "he_unavailable"
