from __future__ import annotations

from http import HTTPStatus

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import InvalidStatus
from websockets.http11 import Request, Response

from tests.split_relay.net import EVERYWHERE, LOCAL, free_port, port_of, relay, run

BEARER = {"Authorization": "Bearer t"}


async def _echo(socket: ServerConnection) -> None:
    async for message in socket:
        await socket.send(message)


def _token(socket: ServerConnection, request: Request) -> Response | None:
    if request.headers.get("Authorization") == "Bearer t":
        return None
    answer = socket.respond(HTTPStatus.UNAUTHORIZED, "a token is needed\n")
    answer.headers["WWW-Authenticate"] = 'Bearer realm="gatelink"'
    return answer


def test_a_websocket_passes_beyond_loopback_with_its_token() -> None:
    async def main() -> None:
        async with serve(_echo, LOCAL, 0, process_request=_token) as server:
            port = server.sockets[0].getsockname()[1]
            async with relay(port, host=EVERYWHERE) as daemon:
                url = f"ws://{LOCAL}:{port_of(daemon)}/api/v1/split/stream"
                with pytest.raises(InvalidStatus, match="401"):
                    await connect(url, proxy=None)
                async with connect(url, proxy=None, additional_headers=BEARER) as socket:
                    for message in ("text", bytes(range(256)) * 3000):
                        await socket.send(message)
                        assert await socket.recv() == message

    run(main())


def test_a_refused_websocket_reads_the_error() -> None:
    async def main() -> None:
        async with relay(free_port(), connect_timeout=0.05) as daemon:
            with pytest.raises(InvalidStatus) as caught:
                await connect(f"ws://{LOCAL}:{port_of(daemon)}/", proxy=None)
            assert caught.value.response.status_code == 503
            assert b"upstream_unavailable" in (caught.value.response.body or b"")

    run(main())
