from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from split_relay.address import Address
from split_relay.dial import dial
from split_relay.errors import UpstreamUnavailable, UpstreamUnprotected
from split_relay.probe import Proof, probe
from tests.split_relay.net import (
    CHALLENGE,
    EVERYWHERE,
    LOCAL,
    Handler,
    Http,
    Upstream,
    free_port,
    relay,
    run,
    upstream,
)


async def _probe(port: int, seconds: float = 5.0) -> Proof:
    address = Address(LOCAL, port)
    with await dial(address, seconds) as sock:
        return await probe(sock, address, seconds)


def _says(answer: bytes) -> Handler:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for byte in answer:
            writer.write(bytes([byte]))
            await writer.drain()

    return handler


def test_a_proof_lives_as_long_as_the_process_that_gave_it() -> None:
    async def main() -> None:
        async with upstream(Http(401)) as server:
            proof = await _probe(server.port)
            assert proof.alive()
            await server.stop()
            assert not proof.alive()
            proof.close()

    run(main())


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 401 Unauthorized\r\n" + CHALLENGE + b"\r\n",
        b"HTTP/1.0 401\r\nX: y\r\n" + CHALLENGE.lower() + b"Y: z\r\n\r\n",
        b"HTTP/1.1 401 \r\n" + CHALLENGE + b"\r\nbody",
    ],
)
def test_a_401_with_the_servers_challenge_counts_even_in_single_bytes(answer: bytes) -> None:
    async def main() -> None:
        async with upstream(_says(answer)) as server:
            proof = await _probe(server.port)
            assert proof.scheme == "http"
            proof.close()

    run(main())


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 401 Unauthorized\r\n\r\n",
        b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm="gatelink"\r\n\r\n',
        b'HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm="other"\r\n\r\n',
        b"HTTP/1.1 401 Unauthorized\r\nX: " + CHALLENGE + b"\r\n",
        b"HTTP/1.1 401 Unauthorized\r\n\r\n" + CHALLENGE,
        b"HTTP/1.1 4010 Odd\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n401",
        b"HTTP/2 401\r\n\r\n       ",
        b"401 Unauthorized     ",
        b"\x00\x01\x02 HTTP/1.1 401 ",
    ],
)
def test_nothing_else_counts(answer: bytes) -> None:
    async def main() -> None:
        async with upstream(_says(answer)) as server:
            with pytest.raises(UpstreamUnprotected):
                await _probe(server.port)

    run(main())


def test_an_endless_answer_is_no_proof_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("split_relay.probe._DRAIN_READS", 2)
    near, far = socket.socketpair()
    with near, far:
        near.setblocking(False)
        proof = Proof("http", near)
        far.sendall(bytes(1000))
        assert proof.alive()
        far.sendall(bytes(100_000))
        assert not proof.alive()


def test_an_upstream_that_hangs_up_without_an_answer_is_unavailable() -> None:
    async def closes(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async def main() -> None:
        async with upstream(closes) as server:
            with pytest.raises(UpstreamUnavailable):
                await _probe(server.port)

    run(main())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    if shutil.which("openssl") is None:
        pytest.skip("making a certificate needs the openssl command")
    folder: Path = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    files = ["-keyout", str(folder / "key"), "-out", str(folder / "cert")]
    subprocess.run(
        [*command.split(), *files, "-subj", "/CN=upstream", "-days", "2"],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert", folder / "key")
    return context


@pytest.mark.parametrize("status", [401, 200])
def test_a_tls_upstream_is_probed_through_tls(certificate: ssl.SSLContext, status: int) -> None:
    async def main() -> None:
        server = Upstream(Http(status))
        await server.start(ssl=certificate)
        try:
            if status == 401:
                proof = await _probe(server.port)
                assert (proof.scheme, proof.alive()) == ("https", False)
            else:
                with pytest.raises(UpstreamUnprotected, match="200"):
                    await _probe(server.port)
        finally:
            await server.stop()

    run(main())


@pytest.mark.parametrize("options", [{"host": LOCAL}, {"host": EVERYWHERE, "open": True}])
def test_a_relay_that_proves_nothing_asks_what_the_server_speaks(
    certificate: ssl.SSLContext, options: dict[str, Any]
) -> None:
    async def main() -> None:
        server = Upstream(Http(200))
        await server.start(ssl=certificate)
        try:
            async with relay(server.port, **options) as daemon:
                assert await daemon.scheme(5) == "https"
        finally:
            await server.stop()
        async with upstream(Http(200)) as plain, relay(plain.port, **options) as daemon:
            assert await daemon.scheme(5) == "http"
        async with relay(free_port(), **options) as daemon:
            assert await daemon.scheme(0.01) is None

    run(main())


def test_tls_passes_through_untouched(certificate: ssl.SSLContext) -> None:
    async def main() -> None:
        server = Upstream(Http(401, close=True))
        await server.start(ssl=certificate)
        client = ssl.create_default_context()
        client.check_hostname = False
        client.verify_mode = ssl.CERT_NONE
        try:
            async with relay(server.port, host=EVERYWHERE) as daemon:
                assert await daemon.scheme(0) == "https"
                reader, writer = await asyncio.open_connection(
                    LOCAL, daemon.addresses[0].port, ssl=client
                )
                writer.write(b"GET / HTTP/1.1\r\n\r\n")
                assert b" 401 " in await reader.readuntil(b"\r\n")
                writer.transport.abort()
        finally:
            await server.stop()

    run(main())
