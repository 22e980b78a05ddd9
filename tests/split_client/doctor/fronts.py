"""Fronts that may stand where a server is expected: TLS, banners, black holes and proxies."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_HOST = "127.0.0.1"


@dataclass(frozen=True)
class Identity:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


def make_identity(folder: Path, names: str, days: int = 90) -> Identity:
    """A certificate signed by itself for ``names`` (subjectAltName); one of -1 days has expired."""
    if shutil.which("openssl") is None:
        pytest.skip("making a certificate needs the openssl command")
    made = Identity(folder / "certificate.pem", folder / "key.pem")
    extensions = folder / "extensions"
    extensions.write_text(f"subjectAltName={names}\n")
    request = folder / "request.pem"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    _openssl(
        "req", "-new", *curve, "-subj", "/CN=x", "-keyout", str(made.key), "-out", str(request)
    )
    sign = ["x509", "-req", "-days", str(days), "-extfile", str(extensions), "-in", str(request)]
    _openssl(*sign, "-signkey", str(made.key), "-out", str(made.certificate))
    return made


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


Serve = Callable[[socket.socket], None]


@contextmanager
def accepting(serve: Serve) -> Iterator[int]:
    """A port whose connections are each served in a thread; the port's number."""
    with socket.create_server((_HOST, 0)) as listener:

        def run(near: socket.socket) -> None:
            with near, contextlib.suppress(OSError):
                serve(near)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    near, _ = listener.accept()
                    threading.Thread(target=run, args=(near,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def saying(banner: bytes) -> Serve:
    """A program that speaks first, as SSH and SMTP do."""

    def serve(near: socket.socket) -> None:
        near.sendall(banner)
        near.recv(4096)

    return serve


def hanging_up(near: socket.socket) -> None:
    """Read, and close without a word."""
    near.recv(4096)


def behind_tls(port: int, identity: Identity) -> Serve:
    """TLS before the server at ``port``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.certificate, identity.key)

    def serve(near: socket.socket) -> None:
        with context.wrap_socket(near, server_side=True) as secured:
            _copy(secured, port, secured.recv(65536))

    return serve


def without_upgrades(port: int) -> Serve:
    """A proxy before the server at ``port`` that refuses WebSockets."""

    def serve(near: socket.socket) -> None:
        first = near.recv(65536)
        if b"upgrade: websocket" in first.lower():
            near.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        _copy(near, port, first)

    return serve


def without_posts(port: int) -> Serve:
    """A proxy before the server at ``port`` that lets nothing be sent in a body."""

    def serve(near: socket.socket) -> None:
        first = near.recv(65536)
        if first.startswith(b"POST "):
            near.sendall(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
            return
        _copy(near, port, first)

    return serve


def compressing(port: int) -> Serve:
    """A proxy before the server at ``port`` that takes up the compression a WebSocket offers."""

    def serve(near: socket.socket) -> None:
        first = near.recv(65536)
        if b"permessage-deflate" not in first:
            _copy(near, port, first)
            return
        with socket.create_connection((_HOST, port)) as far:
            far.sendall(first)
            head, _, rest = far.recv(65536).partition(b"\r\n\r\n")
            taken = b"Sec-WebSocket-Extensions: permessage-deflate"
            near.sendall(b"\r\n".join((head, taken, b"", rest)))
            _pump(near, far)

    return serve


@contextmanager
def black_hole() -> Iterator[int]:
    """A port whose queue is full, so that connections are neither accepted nor refused."""
    with socket.socket() as listener, contextlib.ExitStack() as waiting:
        listener.bind((_HOST, 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        for _ in range(4):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex((_HOST, port))
        yield port


def _copy(near: socket.socket, port: int, first: bytes) -> None:
    with socket.create_connection((_HOST, port)) as far:
        far.sendall(first)
        back = threading.Thread(target=_pump, args=(far, near), daemon=True)
        back.start()
        # One thread reads and another one writes; the reader of the request sends nothing back.
        _pump(near, far)
        back.join(10)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)
