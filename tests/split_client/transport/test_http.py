from __future__ import annotations

import socket
import threading

import pytest

from split_client.errors import ConnectionLost, NotASplitServer, ServerRefused, ServerUnreachable
from split_client.transport.endpoint import Endpoint
from split_client.transport.http import HttpTransport
from split_wire.codec import encode_message
from split_wire.messages import CONTENT_TYPE, Failure, Ping, Pong
from tests.split_client.servers import Handle, http_server, posting, respond, unused_endpoint

PING = encode_message(Ping())


def exchange(post: Handle, limit: int = 4096) -> bytes:
    with http_server(post=post) as endpoint:
        transport = HttpTransport(endpoint, "secret", limit, 5.0)
        try:
            return transport.exchange(PING, 5.0)
        finally:
            transport.close()


def test_a_frame_is_answered_by_the_body() -> None:
    pong = encode_message(Pong())
    assert exchange(posting(lambda _: pong)) == pong


def test_type_and_token_travel_as_headers() -> None:
    seen: list[tuple[str | None, str | None]] = []

    def post(handler: object) -> None:
        headers = handler.headers  # type: ignore[attr-defined]
        seen.append((headers["Content-Type"], headers["Authorization"]))
        posting(lambda _: PING)(handler)  # type: ignore[arg-type]

    exchange(post)
    assert seen == [(CONTENT_TYPE, "Bearer secret")]


def test_a_refusal_that_is_a_frame_is_an_answer() -> None:
    frame = encode_message(Failure("overloaded", "later", retryable=True))
    assert exchange(lambda handler: respond(handler, 503, frame, CONTENT_TYPE)) == frame


def test_a_refusal_in_json_keeps_its_code_and_delay() -> None:
    body = b'{"error": {"code": "overloaded", "message": "later", "retryable": true}}'
    with pytest.raises(ServerRefused) as caught:
        exchange(lambda handler: respond(handler, 503, body, Retry_After="7"))
    assert (caught.value.code, caught.value.retryable) == ("overloaded", True)
    assert caught.value.retry_after == 7


@pytest.mark.parametrize(
    "body",
    [b"<html>", b"[]", b'{"error": 3}', b'{"error": {"code": 1, "message": ""}}', b"[" * 9999],
)
def test_a_page_of_somebody_else_is_named_as_that(body: bytes) -> None:
    with pytest.raises(ServerRefused) as caught:
        exchange(lambda handler: respond(handler, 404, body), limit=1 << 16)
    assert caught.value.code == "not_a_split_server"


def test_the_status_of_somebody_elses_page_is_told() -> None:
    with pytest.raises(NotASplitServer) as caught:
        exchange(lambda handler: respond(handler, 500, b"Internal Server Error"))
    assert (caught.value.status, caught.value.code) == (500, "not_a_split_server")


def test_a_gateway_without_its_server_is_a_lost_connection() -> None:
    with pytest.raises(ConnectionLost, match="502"):
        exchange(lambda handler: respond(handler, 502, b"bad gateway"))


def test_an_answer_above_the_limit_is_refused() -> None:
    with pytest.raises(ServerRefused) as caught:
        exchange(posting(lambda _: b"SPL1" + bytes(5000)))
    assert caught.value.code == "answer_too_large"


def test_an_answer_cut_in_half_is_a_lost_connection() -> None:
    def post(handler: object) -> None:
        handler.send_response(200)  # type: ignore[attr-defined]
        handler.send_header("Content-Length", "100")  # type: ignore[attr-defined]
        handler.end_headers()  # type: ignore[attr-defined]
        handler.wfile.write(b"SPL1")  # type: ignore[attr-defined]
        handler.close_connection = True  # type: ignore[attr-defined]

    with pytest.raises(ConnectionLost):
        exchange(post)


def test_silence_is_a_lost_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        transport = HttpTransport(
            Endpoint.parse(f"127.0.0.1:{listener.getsockname()[1]}"), None, 4096, 5.0
        )
        with pytest.raises(ConnectionLost):
            transport.exchange(PING, 0.1)
        transport.close()


def test_an_address_where_nothing_listens_is_unreachable() -> None:
    with unused_endpoint() as endpoint:
        transport = HttpTransport(endpoint, None, 4096, 5.0)
        with pytest.raises(ServerUnreachable):
            transport.exchange(PING, 5.0)
        transport.close()


def test_a_redirect_is_not_followed() -> None:
    followed = threading.Event()

    def post(handler: object) -> None:
        if "elsewhere" in handler.path:  # type: ignore[attr-defined]
            followed.set()
        respond(handler, 307, b"", Location="/elsewhere")  # type: ignore[arg-type]

    with pytest.raises(ServerRefused):
        exchange(post)
    assert not followed.is_set()
