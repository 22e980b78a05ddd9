"""Errors of the device end, a branch of the client's tree::

    GenerationError
    ├── WeightsMissing              a weight file does not exist
    ├── WeightsSizeMismatch         a weight file is not rows * hidden values long
    ├── WeightsNotFinite            a weight is NaN or infinite
    ├── UnknownFloat                a dtype that is not f32, bf16 or f16
    ├── TokenIdOutOfRange           a token id outside the vocabulary
    ├── NotRepresentable            an embedding overflows the format it travels in
    ├── InvalidHiddenState          a hidden state of the wrong shape, or not finite
    ├── NonFiniteLogits             logits overflow float32
    ├── InvalidHeadSpec             bias, softcap or scale outside their range
    ├── ScreenDamaged               a screen file that is torn, foreign or for other weights
    ├── PlaneDamaged                the same of a file with the 4-bit plane of a compact LM head
    ├── PlaneNotStored              that file cannot be written: disk full, folder read-only
    ├── NothingAllowed              every token is banned or outside what a constraint allows
    └── InvalidSamplingParameter    a sampling parameter outside its range

``code`` is stable: programs compare it, people read the message.
"""

from pathlib import Path

from split_client.errors import ClientError


class GenerationError(ClientError):
    """Base of the branch."""

    code = "generation_error"


class WeightsMissing(GenerationError):
    code = "weights_missing"

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"weight file {path.name} does not exist; pull the model again")


class WeightsSizeMismatch(GenerationError):
    """Sizes in bytes."""

    code = "weights_size_mismatch"

    def __init__(self, path: Path, size: int, expected: int) -> None:
        self.path, self.size, self.expected = path, size, expected
        super().__init__(
            f"weight file {path.name} has {size} bytes, its manifest says {expected}; "
            "pull the model again"
        )


class WeightsNotFinite(GenerationError):
    code = "weights_not_finite"

    def __init__(self, row: int) -> None:
        self.row = row
        super().__init__(f"weight row {row} holds NaN or infinity; the checkpoint is damaged")


class UnknownFloat(GenerationError):
    code = "unknown_float"

    def __init__(self, name: object) -> None:
        super().__init__(f"unknown dtype {name!r}; use f32, bf16 or f16")


class TokenIdOutOfRange(GenerationError):
    code = "token_id_out_of_range"

    def __init__(self, token_id: int, rows: int) -> None:
        self.token_id, self.rows = token_id, rows
        super().__init__(f"token id {token_id} is outside 0..{rows - 1}")


class NotRepresentable(GenerationError):
    code = "not_representable"

    def __init__(self, token_id: int, dtype: str) -> None:
        self.token_id, self.dtype = token_id, dtype
        super().__init__(
            f"the embedding of token {token_id} overflows {dtype}; use a wider wire dtype"
        )


class InvalidHiddenState(GenerationError):
    code = "invalid_hidden_state"

    def __init__(self, reason: str) -> None:
        super().__init__(f"hidden state refused: {reason}")


class NonFiniteLogits(GenerationError):
    code = "non_finite_logits"

    def __init__(self, token_id: int) -> None:
        self.token_id = token_id
        super().__init__(f"the logit of token {token_id} is not a finite float32")


class InvalidHeadSpec(GenerationError):
    code = "invalid_head_spec"

    def __init__(self, reason: str) -> None:
        super().__init__(f"LM head refused: {reason}")


class ScreenDamaged(GenerationError):
    code = "screen_damaged"

    def __init__(self, reason: str) -> None:
        super().__init__(f"screen file refused: {reason}; it can be derived again from the weights")


class PlaneDamaged(GenerationError):
    code = "plane_damaged"

    def __init__(self, reason: str) -> None:
        super().__init__(f"4-bit plane refused: {reason}; it can be derived again from the weights")


class PlaneNotStored(GenerationError):
    """``size``: of the whole file, in bytes."""

    code = "plane_not_stored"

    def __init__(self, path: Path, size: int, reason: str | None) -> None:
        self.path, self.size = path, size
        super().__init__(
            f"the compact LM head cannot store its file {path.name} of {size / 1e6:.0f} MB beside "
            f"the weights ({reason}); make room there, or take --lm-head full, which stores nothing"
        )


class NothingAllowed(GenerationError):
    code = "nothing_allowed"

    def __init__(self) -> None:
        super().__init__(
            "no token may follow: all are banned or outside the constraint; ban fewer tokens"
        )


class InvalidSamplingParameter(GenerationError):
    """``field`` is the parameter's name, ``allowed`` its range in words."""

    code = "invalid_sampling_parameter"

    def __init__(self, field: str, value: object, allowed: str) -> None:
        self.field, self.allowed = field, allowed
        super().__init__(f"{field} = {value!r} is not allowed; {field} is {allowed}")
