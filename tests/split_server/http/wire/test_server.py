"""Listening: free ports, ports in use, names that are none."""

from __future__ import annotations

import socket

import pytest

from split_server.http.wire.server import CannotListen, listen
from tests.patience import PATIENCE


def _close(sockets: list[socket.socket]) -> None:
    for opened in sockets:
        opened.close()


def test_port_zero_picks_a_free_one() -> None:
    sockets = listen("127.0.0.1", 0)
    try:
        port = sockets[0].getsockname()[1]
        assert port > 0
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE):
            pass
    finally:
        _close(sockets)


def test_a_name_with_two_addresses_listens_on_one_port() -> None:
    sockets = listen("localhost", 0)
    try:
        assert len({opened.getsockname()[1] for opened in sockets}) == 1
    finally:
        _close(sockets)


def test_a_port_in_use_is_told() -> None:
    taken = listen("127.0.0.1", 0)
    try:
        port = taken[0].getsockname()[1]
        with pytest.raises(CannotListen, match=f"port {port}: .*choose another --port"):
            listen("127.0.0.1", port)
    finally:
        _close(taken)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "203.0.113.77"])
def test_an_address_that_is_not_ours_is_told(host: str) -> None:
    with pytest.raises(CannotListen, match=host):
        listen(host, 0)
