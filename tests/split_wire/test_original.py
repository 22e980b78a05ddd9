"""The original protocol's messages, without I/O."""

from __future__ import annotations

import base64
import contextlib
import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_wire.errors import (
    FrameTooLarge,
    MalformedMessage,
    NonFinite,
    Overloaded,
    SplitError,
    TokenizeDisabled,
    TooManyRows,
    UnknownMessage,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.frame import Frame, encode_frame
from split_wire.original.experts import adapter_of
from split_wire.original.replies import (
    Encrypted,
    ForwardReply,
    config,
    embedding_hash,
    error_message,
    verification,
)
from split_wire.original.requests import Config, Forward, Ping, RequestParser, Tokenize
from split_wire.original.strict_json import parse_object

HIDDEN = 4
ROWS = np.arange(12, dtype=np.float32).reshape(3, HIDDEN) - 5.5


@pytest.fixture
def parser() -> RequestParser:
    return RequestParser(HIDDEN, max_rows=8)


def forward(rows: np.ndarray = ROWS, **changes: Any) -> dict[str, Any]:
    message = {
        "type": "forward",
        "hidden_states": base64.b64encode(rows.astype("<f4").tobytes()).decode(),
        "seq_len": rows.shape[0],
        "hidden_dim": rows.shape[1],
        "expert_name": "banking_expert",
        "use_he": True,
        "session_id": "abc123",
        "incremental": True,
    } | changes
    return {key: value for key, value in message.items() if value is not ...}


def binary(values: dict[str, Any], payload: bytes = b"", length: int | None = None) -> bytes:
    text = json.dumps(values).encode()
    return struct.pack("<I", len(text) if length is None else length) + text + payload


def test_a_text_forward_is_parsed_with_all_its_fields(parser: RequestParser) -> None:
    request = parser.text(json.dumps(forward()))
    assert isinstance(request, Forward)
    np.testing.assert_array_equal(request.embeddings.to_f32(), ROWS)
    assert request.session == "abc123"
    assert request.incremental
    assert request.expert == "banking_expert"
    assert request.use_he
    assert request.spelling == "hidden_states"


def test_fields_that_are_left_out_have_the_defaults_of_existing_clients(
    parser: RequestParser,
) -> None:
    encoded = base64.b64encode(ROWS.tobytes()).decode()
    request = parser.text(json.dumps({"hidden_states_b64": encoded}))
    assert isinstance(request, Forward)
    assert request.embeddings.shape == ROWS.shape
    assert (request.session, request.incremental, request.expert) == (None, False, None)
    assert request.use_he
    assert request.spelling == "hidden_states_b64"


@pytest.mark.parametrize("padding", range(4))
def test_binary_rows_are_read_at_any_alignment(parser: RequestParser, padding: int) -> None:
    values = forward(hidden_states=..., note="x" * padding)
    request = parser.binary(binary(values, ROWS.tobytes()))
    assert isinstance(request, Forward)
    np.testing.assert_array_equal(request.embeddings.to_f32(), ROWS)
    assert request.spelling == "binary"


def test_short_messages_are_parsed_in_text_and_binary(parser: RequestParser) -> None:
    for values, wanted in (
        ({"type": "ping"}, Ping()),
        ({"type": "config", "unknown": [1]}, Config()),
        ({"type": "tokenize", "text": "Grüße"}, Tokenize("Grüße")),
    ):
        assert parser.text(json.dumps(values)) == wanted
        assert parser.binary(binary(values)) == wanted


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("", MalformedMessage),
        ("[]", MalformedMessage),
        ("7", MalformedMessage),
        ("{", MalformedMessage),
        ('{"type": "ping", "type": "config"}', MalformedMessage),
        ('{"type": "ping", "x": NaN}', MalformedMessage),
        ('{"type": "ping", "x": -Infinity}', MalformedMessage),
        ('{"type": "ping", "x": ' + "9" * 5000 + "}", MalformedMessage),
        ('{"type": "ping", "x": ' + "[" * 20_000 + "]" * 20_000 + "}", MalformedMessage),
        (b'{"type": "\xff"}', MalformedMessage),
        ('{"type": 5}', MalformedMessage),
        ('{"type": null}', MalformedMessage),
        ('{"type": "steer"}', UnknownMessage),
        ('{"type": "tokenize"}', MalformedMessage),
        ('{"type": "tokenize", "text": "\\ud800"}', MalformedMessage),
        (json.dumps({"type": "tokenize", "text": "x" * 10_001}), MalformedMessage),
        ('{"type": "ping", "pad": "' + "x" * 70_000 + '"}', FrameTooLarge),
    ],
)
def test_hostile_text_is_refused(
    parser: RequestParser, message: str | bytes, error: type[SplitError]
) -> None:
    with pytest.raises(error):
        parser.text(message)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"seq_len": 2}, WrongShape),
        ({"seq_len": 4}, WrongShape),
        ({"seq_len": 0}, WrongShape),
        ({"seq_len": -1}, MalformedMessage),
        ({"seq_len": True}, MalformedMessage),
        ({"seq_len": 3.0}, MalformedMessage),
        ({"seq_len": None}, MalformedMessage),
        ({"seq_len": 2**70}, MalformedMessage),
        ({"seq_len": 9}, TooManyRows),
        ({"seq_len": 2**40}, TooManyRows),
        ({"hidden_dim": 6, "seq_len": 2}, WrongHiddenSize),
        ({"hidden_dim": 0}, WrongHiddenSize),
        ({"hidden_dim": "4"}, MalformedMessage),
        ({"hidden_states": ""}, WrongShape),
        ({"hidden_states": "", "seq_len": ...}, WrongShape),
        ({"hidden_states": "AAAA", "seq_len": ...}, WrongShape),
        ({"hidden_states": "not base64!"}, MalformedMessage),
        ({"hidden_states": "AAA"}, MalformedMessage),
        ({"hidden_states": "é" * 64}, MalformedMessage),
        ({"hidden_states": [0.5] * 12}, MalformedMessage),
        ({"hidden_states": ...}, MalformedMessage),
        ({"hidden_states_b64": "AAAA"}, MalformedMessage),
        ({"session_id": 5}, MalformedMessage),
        ({"session_id": "x" * 129}, MalformedMessage),
        ({"session_id": "a\x00b"}, MalformedMessage),
        ({"session_id": "a\ud800"}, MalformedMessage),
        ({"expert_name": "x" * 129}, MalformedMessage),
        ({"expert_name": ["a"]}, MalformedMessage),
        ({"incremental": 1}, MalformedMessage),
        ({"use_he": "yes"}, MalformedMessage),
    ],
)
def test_a_forward_with_a_bad_field_is_refused(
    parser: RequestParser, changes: dict[str, Any], error: type[SplitError]
) -> None:
    with pytest.raises(error):
        parser.text(json.dumps(forward(**changes)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rows_that_are_not_finite_are_refused(parser: RequestParser, value: float) -> None:
    rows = ROWS.copy()
    rows[1, 2] = value
    with pytest.raises(NonFinite):
        parser.text(json.dumps(forward(rows)))
    with pytest.raises(NonFinite):
        parser.binary(binary(forward(hidden_states=...), rows.tobytes()))


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", MalformedMessage),
        (b"\x02\x00\x00", MalformedMessage),
        (binary(forward(hidden_states=...), ROWS.tobytes(), length=2**32 - 1), MalformedMessage),
        (binary(forward(hidden_states=...), b"", length=10_000), MalformedMessage),
        (binary(forward(hidden_states=...), ROWS.tobytes()[:-1]), WrongShape),
        (binary(forward(hidden_states=...), ROWS.tobytes() + b"\0"), WrongShape),
        (binary(forward(), ROWS.tobytes()), MalformedMessage),
        (binary({"type": "ping"}, b"rest"), MalformedMessage),
        (encode_frame(Frame({"type": "ping"})), MalformedMessage),
        (b"\0" * 70_000, FrameTooLarge),
    ],
)
def test_hostile_binary_is_refused(
    parser: RequestParser, data: bytes, error: type[SplitError]
) -> None:
    with pytest.raises(error):
        parser.binary(data)


def test_the_largest_request_fits_and_one_row_more_does_not(parser: RequestParser) -> None:
    most = np.ones((8, HIDDEN), np.float32)
    for spelling in ("hidden_states", "hidden_states_b64"):
        rows = forward(most, hidden_states=...) | {spelling: forward(most)["hidden_states"]}
        assert isinstance(parser.text(json.dumps(rows)), Forward)
    with pytest.raises(TooManyRows):
        parser.text(json.dumps(forward(np.ones((9, HIDDEN), np.float32))))


@given(st.binary(max_size=200))
def test_random_bytes_raise_nothing_but_typed_errors(data: bytes) -> None:
    parser = RequestParser(HIDDEN)
    for parse in (parser.binary, parser.text):
        with contextlib.suppress(SplitError):
            assert isinstance(parse(data), Ping | Config | Tokenize | Forward)


def reply(rows: int = 3, *, incremental: bool = False) -> ForwardReply:
    return ForwardReply(ROWS[:rows], incremental, 7, 24, compute_ms=1.23456, total_ms=2.0)


def test_a_text_reply_answers_in_the_spelling_of_its_request() -> None:
    for spelling, kind, field in (
        ("hidden_states", "forward", "pre_activations"),
        ("hidden_states_b64", "result", "pre_activations_b64"),
    ):
        message = json.loads(reply().encode(spelling))
        assert message["type"] == kind
        assert base64.b64decode(message.pop(field)) == ROWS.tobytes()
        assert not any(key.startswith("pre_activations") for key in message)
        assert message["seq_len"] == 3
        assert message["hidden_dim"] == HIDDEN
        assert message["cached_seq_len"] == 7
        assert message["he_active"] is False
        assert message["compute_ms"] == 1.235
        assert (message["encrypt_ms"], message["decrypt_ms"], message["dp_sigma"]) == (0, 0, 0)


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("incremental", [True, False])
def test_a_binary_reply_has_its_rows_at_a_multiple_of_four(rows: int, incremental: bool) -> None:
    data = reply(rows, incremental=incremental).encode("binary")
    assert isinstance(data, bytes)
    end = 4 + struct.unpack_from("<I", data)[0]
    assert end % 4 == 0
    message = json.loads(data[4:end])
    assert message["type"] == "result"
    assert message["seq_len"] == rows
    assert message["incremental"] is incremental
    np.testing.assert_array_equal(np.frombuffer(data[end:], "<f4"), ROWS[:rows].ravel())


def test_a_reply_tells_the_times_of_encryption_and_adds_the_products_to_the_models() -> None:
    done = ForwardReply(
        ROWS, False, 0, 24, 2.0, 9.0, "banking", Encrypted(1.5, 0.25, 0.75), dp_sigma=3.73
    )
    message = json.loads(done.encode("hidden_states"))
    assert message["he_active"] is True
    assert message["he_reason"] is None
    assert message["adapter"] == "banking"
    assert (message["encrypt_ms"], message["decrypt_ms"]) == (1.5, 0.75)
    assert (message["compute_ms"], message["he_compute_ms"]) == (2.25, 0.25)
    assert message["dp_sigma"] == 3.73


def test_an_expert_is_an_adapter_by_its_name_with_or_without_the_suffix() -> None:
    for expert, adapter in (
        (None, None),
        ("banking", "banking"),
        ("banking_expert", "banking"),
        ("legal_expert", "legal_expert"),
        ("gardening", None),
        ("gardening_expert", None),
        ("_expert", None),
    ):
        assert adapter_of(expert, {"banking", "legal", "legal_expert"}) == adapter


def test_a_config_lets_clients_neither_clip_nor_noise_nor_claim_privacy() -> None:
    message = config("demo", 64, 301, 3, (2, 0), {"banking": ("bank", "loan")})
    assert message["dp_sigma"] == message["client_dp_sigma"] == message["dp_epsilon"] == 0
    assert message["he_active"] is False
    worst = np.full(64, np.finfo(np.float16).max, np.float64)
    assert message["dp_sensitivity"] >= np.linalg.norm(worst)
    assert message["vocab_size"] == 301
    assert message["expert_keywords"] == {"banking": ["bank", "loan"]}
    assert json.loads(json.dumps(message, allow_nan=False)) == message


def test_the_embedding_hash_sums_eight_rounded_values() -> None:
    row = np.array([0.00014, -0.00016, 1, 2, 0, 0, 0, 0.5, 99, 99], np.float32)
    assert embedding_hash(row) == 1 - 2 + 10_000 + 20_000 + 5_000
    assert embedding_hash(row[:3]) == 1 - 2 + 10_000
    assert verification([5, 6], row, 301, 10)["embed_hash"] == embedding_hash(row)
    assert verification([], None, 301, 10)["status"] == "empty"


def test_an_error_message_has_a_stable_code_and_a_text() -> None:
    assert json.loads(error_message(TokenizeDisabled())) == {
        "type": "error",
        "code": "tokenize_disabled",
        "message": str(TokenizeDisabled()),
        "retryable": False,
    }
    assert json.loads(error_message(Overloaded("full", 2.0)))["retry_after"] == 2.0


def test_json_is_bounded_before_it_is_read() -> None:
    assert parse_object(b'{"a": 1}', 8) == {"a": 1}
    with pytest.raises(FrameTooLarge):
        parse_object(b'{"a": 1} ', 8)
    with pytest.raises(MalformedMessage, match="too many values"):
        parse_object('{"a": [' + "[]," * 20_000 + "[]]}", 1 << 20)
