from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_wire import errors
from split_wire.codec import decode_client_message, decode_server_message, encode_message
from split_wire.errors import (
    MalformedMessage,
    Overloaded,
    UnknownMessage,
    UnsupportedVersion,
    WrongDtype,
)
from split_wire.frame import decode_frame
from split_wire.messages import (
    Close,
    Closed,
    Failure,
    Message,
    Open,
    Opened,
    Ping,
    Pong,
    Result,
    Step,
)
from split_wire.tensor import Tensor
from tests.split_wire.frames import LIMIT, code_of, raw_frame, with_tensor
from tests.split_wire.strategies import client_messages, server_messages

STEP: dict[str, Any] = {
    "type": "step",
    "session": "s",
    "step": 1,
    "start": 0,
    "prefix": bytes(16),
    "tensors": [["embeddings", "f32", [1, 2]]],
}
OPENED: dict[str, Any] = {
    "type": "opened",
    "version": 1,
    "session": "s",
    "manifest": "m",
    "dtype": "bf16",
    "max_rows": 512,
    "max_context": 4096,
}


PARSE_ERRORS = {
    None,
    "malformed_frame",
    "malformed_message",
    "unknown_message",
    "unsupported_version",
    "wrong_dtype",
}


@pytest.mark.parametrize("name", ["", ".a", "a b", "a\n", "x" * 65, 3, "\u00e9"])
def test_a_replica_that_has_no_name_of_its_form_is_malformed(name: object) -> None:
    frame = raw_frame({**OPENED, "replica": name})
    assert code_of(lambda: decode_server_message(frame, LIMIT)) == "malformed_message"


def step_frame(**changes: Any) -> bytes:
    header = {key: value for key, value in {**STEP, **changes}.items() if value is not ...}
    return with_tensor(header, bytes(8))


@given(client_messages)
def test_a_device_message_comes_back_as_it_was_sent(message: Any) -> None:
    assert decode_client_message(encode_message(message), LIMIT) == message


@given(server_messages)
def test_a_server_message_comes_back_as_it_was_sent(message: Any) -> None:
    assert decode_server_message(encode_message(message), LIMIT) == message


@given(st.binary(max_size=120))
def test_any_header_is_a_message_or_a_typed_error(header: bytes) -> None:
    for decode in (decode_client_message, decode_server_message):
        assert code_of(partial(decode, raw_frame(header), LIMIT)) in PARSE_ERRORS


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=9)
    | st.binary(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["open", "step", "close", "ping", "opened", "result", "closed", "error", "x"]),
    st.dictionaries(st.sampled_from([*STEP, *OPENED, "rows", "code", "message", "step"]), VALUES),
)
def test_fields_of_any_type_give_a_message_or_a_typed_error(
    kind: str, fields: dict[str, Any]
) -> None:
    for decode in (decode_client_message, decode_server_message):
        frame = raw_frame({**OPENED, **fields, "type": kind})
        assert code_of(partial(decode, frame, LIMIT)) in PARSE_ERRORS


def test_fields_that_hold_their_default_are_left_out() -> None:
    step = Step("s", 1, 0, bytes(16), Tensor("f32", (1, 2), bytes(8)))
    assert set(decode_frame(encode_message(step), LIMIT).header) == {
        "type", "session", "step", "start", "prefix",
    }  # fmt: skip
    assert decode_frame(encode_message(Open()), LIMIT).header == {"type": "open", "version": 1}
    failure = decode_frame(encode_message(Failure("x", "y")), LIMIT).header
    assert failure == {"type": "error", "code": "x", "message": "y", "retryable": False}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (Open(), "open"),
        (Close("s"), "close"),
        (Ping(), "ping"),
        (Closed("s"), "closed"),
        (Pong(), "pong"),
        (Failure("x", ""), "error"),
        (Opened("s", "m", "f32", 1, 1), "opened"),
        (Result("s", 1, 1, Tensor("f32", (1, 2), bytes(8))), "result"),
    ],
)
def test_a_message_is_named_by_its_type(message: Message, kind: str) -> None:
    assert decode_frame(encode_message(message), LIMIT).header["type"] == kind


def test_unknown_keys_are_ignored() -> None:
    assert decode_client_message(step_frame(), LIMIT) == decode_client_message(
        step_frame(later={"deep": [1, {"x": None}]}, another=b"x"), LIMIT
    )


def test_optional_fields_that_are_nil_are_missing() -> None:
    absent = dict.fromkeys(("rows", "adapter", "attention"))
    assert decode_client_message(step_frame(**absent), LIMIT) == decode_client_message(
        step_frame(), LIMIT
    )
    open_frame = raw_frame({"type": "open", "version": 1, "manifest": None, "capabilities": None})
    assert decode_client_message(open_frame, LIMIT) == Open()


def test_a_tensor_that_no_field_asks_for_is_ignored() -> None:
    frame = with_tensor({"type": "ping", "tensors": [["x", "f32", [1, 2]]]}, bytes(8))
    assert decode_client_message(frame, LIMIT) == Ping()


@pytest.mark.parametrize("kind", ["", "train", "pong", "result", "opened", "x" * 5000])
def test_a_type_that_a_server_does_not_know_is_refused(kind: str) -> None:
    with pytest.raises(UnknownMessage) as caught:
        decode_client_message(raw_frame({"type": kind}), LIMIT)
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize("kind", ["", "open", "step", "close", "ping"])
def test_a_type_that_a_device_does_not_know_is_refused(kind: str) -> None:
    with pytest.raises(UnknownMessage):
        decode_server_message(raw_frame({"type": kind}), LIMIT)


@pytest.mark.parametrize("kind", [None, 1, b"ping", ["ping"], True])
def test_a_type_that_is_not_text_is_refused(kind: object) -> None:
    with pytest.raises(MalformedMessage, match="'type'"):
        decode_client_message(raw_frame({"type": kind}), LIMIT)


@pytest.mark.parametrize("name", ["session", "step", "start", "prefix"])
def test_a_step_without_a_field_is_refused_by_the_name_of_the_field(name: str) -> None:
    with pytest.raises(MalformedMessage, match=f"'{name}'"):
        decode_client_message(step_frame(**{name: ...}), LIMIT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("session", 5),
        ("session", b"s"),
        ("session", "s" * 201),
        ("step", True),
        ("step", -1),
        ("step", 2**53),
        ("step", 1.0),
        ("step", "1"),
        ("start", False),
        ("start", -1),
        ("prefix", bytes(15)),
        ("prefix", bytes(17)),
        ("prefix", "x" * 16),
        ("rows", "some"),
        ("rows", 0),
        ("rows", 1.0),
        ("adapter", 5),
        ("attention", 1),
        ("attention", "yes"),
    ],
)
def test_a_field_of_the_wrong_type_is_refused_by_its_name(name: str, value: object) -> None:
    with pytest.raises(MalformedMessage, match=f"'{name}'"):
        decode_client_message(step_frame(**{name: value}), LIMIT)


def test_a_step_without_its_tensor_is_refused() -> None:
    header = {key: value for key, value in STEP.items() if key != "tensors"}
    with pytest.raises(MalformedMessage, match="'embeddings' is missing"):
        decode_client_message(raw_frame(header), LIMIT)


def test_another_version_is_refused_before_its_other_fields_are_read() -> None:
    later = {"type": "open", "version": 2, "manifest": {"sha512": b"x"}, "dtype": "f8"}
    with pytest.raises(UnsupportedVersion, match="version 2"):
        decode_client_message(raw_frame(later), LIMIT)
    with pytest.raises(UnsupportedVersion):
        decode_server_message(raw_frame({**OPENED, "version": 0, "max_rows": "many"}), LIMIT)


def test_an_open_that_asks_for_another_dtype_is_refused() -> None:
    with pytest.raises(WrongDtype):
        decode_client_message(raw_frame({"type": "open", "version": 1, "dtype": "f64"}), LIMIT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_rows", 2**16 + 1),
        ("max_rows", -1),
        ("max_context", 2**31 + 1),
        ("session", None),
        ("capabilities", "attention"),
        ("capabilities", [1]),
        ("capabilities", ["x"] * 65),
        ("capabilities", ["x" * 201]),
    ],
)
def test_an_announcement_beyond_belief_is_refused(name: str, value: object) -> None:
    with pytest.raises(MalformedMessage, match=f"'{name}'"):
        decode_server_message(raw_frame({**OPENED, name: value}), LIMIT)


def test_an_error_travels_with_its_delay_and_comes_back_as_one_to_raise() -> None:
    sent = Failure.of(Overloaded("the queue is full", 2.5), "s", 3)
    received = decode_server_message(encode_message(sent), LIMIT)
    assert isinstance(received, Failure)
    error = received.error()
    assert (error.code, error.retryable, error.retry_after) == ("overloaded", True, 2.5)
    assert (error.remote_code, error.remote_retryable) == ("overloaded", True)
    assert "the queue is full" in str(error)
    assert (received.session, received.step) == ("s", 3)


def test_the_message_of_an_error_is_bounded_and_cannot_steer_a_terminal() -> None:
    text = "stop\x1b[2J\r\nnow\u202e" + "x" * 5000
    received = decode_server_message(
        raw_frame({"type": "error", "code": "overloaded", "message": text}), LIMIT
    )
    assert isinstance(received, Failure)
    assert received.message.startswith("stop [2J  now x")
    assert received.message.isprintable()
    assert len(received.message) == 1000


def test_an_error_without_a_message_is_still_that_error() -> None:
    received = decode_server_message(raw_frame({"type": "error", "code": "overloaded"}), LIMIT)
    assert received == Failure("overloaded", "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("code", None),
        ("code", "It broke"),
        ("code", "x" * 65),
        ("code", ""),
        ("message", 5),
        ("message", b"x"),
        ("retryable", 1),
        ("retry_after", -1),
        ("retry_after", 1e9),
        ("retry_after", float("nan")),
        ("retry_after", float("inf")),
        ("retry_after", True),
        ("retry_after", "1"),
        ("session", 4),
        ("step", True),
    ],
)
def test_an_ill_formed_error_is_refused_by_the_name_of_the_field(name: str, value: object) -> None:
    header = {"type": "error", "code": "overloaded", name: value}
    with pytest.raises(MalformedMessage, match=f"'{name}'"):
        decode_server_message(raw_frame(header), LIMIT)


def test_a_long_error_is_cut_to_what_a_frame_can_carry() -> None:
    failure = Failure.of(errors.MalformedMessage("x" * 100_000))
    assert len(failure.message) == 1000
    assert decode_server_message(encode_message(failure), LIMIT) == failure


def test_a_decoded_token_at_width_896_in_bf16_costs_at_most_a_tenth_more_than_its_tensors() -> None:
    row = Tensor.from_f32(np.ones((1, 896), np.float32), "bf16")
    session = "s" * 43  # 32 random bytes in base64url
    late = 2**31
    step = Step(session, late, late, bytes(16), row)
    result = Result(session, late, late, row, compute_us=2**31, queue_us=2**31, prefix=bytes(16))
    assert len(encode_message(step)) + len(encode_message(result)) <= 1.1 * 2 * 896 * 2
