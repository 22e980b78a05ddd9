from __future__ import annotations

import socket
from itertools import islice

import pytest

from split_relay.address import Address
from split_relay.dial import backoff, dial
from split_relay.errors import UpstreamUnavailable
from tests.split_relay.net import LOCAL, echo, free_port, run, upstream


def test_pauses_grow_up_to_one_second() -> None:
    assert list(islice(backoff(), 7)) == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_an_upstream_that_is_down_is_named_with_the_reason() -> None:
    async def main() -> None:
        address = Address(LOCAL, free_port())
        with pytest.raises(
            UpstreamUnavailable, match=r"within 0\.1 s: connection refused"
        ) as caught:
            await dial(address, 0.1)
        assert caught.value.upstream == address
        assert caught.value.retryable

    run(main())


def test_a_name_that_does_not_resolve_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    async def main() -> None:
        with pytest.raises(UpstreamUnavailable, match="Name or service not known"):
            await dial(Address("nowhere", 1), 0.1)

    run(main())


def test_every_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with upstream(echo) as server:
            dead, alive = free_port(), server.port
            found = [
                (socket.AF_INET, socket.SOCK_STREAM, 6, "", (LOCAL, port)) for port in (dead, alive)
            ]
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
            with await dial(Address("twice", 1), 5) as sock:
                assert sock.getpeername()[1] == alive

    run(main())
