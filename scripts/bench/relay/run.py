"""The cost of the relay: throughput and round trip against a direct connection and a bare pipe.

The peer is the shortest asyncio relay that can be written: ``read`` / ``write`` / ``drain`` in two
tasks. Server, relay and peer are processes of their own on 127.0.0.1, the client uses blocking
sockets. Every round measures the three paths one after the other, in turned order; the table shows
medians over rounds, and ratios are medians of the ratios within a round.

    python -m scripts.bench.relay.run
    python -m scripts.bench.relay.run --rounds 15 --megabytes 256 --message 1800
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from statistics import median

from split_relay import Address, Relay, RelayConfig

LOCAL = "127.0.0.1"
PIECE = bytes(1 << 20)
PATHS = ("direct", "pipe", "relay")
_REQUEST = struct.Struct("<cQ")  # what to do, and with how many bytes


def serve(ready: Connection) -> None:
    """Threads with blocking sockets: echo, send or receive a number of bytes."""
    with socket.create_server((LOCAL, 0)) as listener:
        ready.send(listener.getsockname()[1])
        while True:
            sock, _ = listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=_answer, args=(sock,), daemon=True).start()


def _answer(sock: socket.socket) -> None:
    with sock, contextlib.suppress(ConnectionError):
        while head := _receive(sock, _REQUEST.size):
            what, size = _REQUEST.unpack(head)
            if what == b"e":
                sock.sendall(_receive(sock, size))
            elif what == b"d":
                _send_many(sock, size)
            else:
                _drop(sock, size)
                sock.sendall(b"k")


def run_relay(ready: Connection, upstream: int) -> None:
    async def main() -> None:
        relay = Relay(RelayConfig(listen=Address(LOCAL, 0), upstream=Address(LOCAL, upstream)))
        await relay.start()
        ready.send(relay.addresses[0].port)
        await asyncio.Event().wait()

    asyncio.run(main())


def run_pipe(ready: Connection, upstream: int) -> None:
    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 20):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection(LOCAL, upstream)
        await asyncio.gather(pipe(reader, up_writer), pipe(up_reader, writer))

    async def main() -> None:
        server = await asyncio.start_server(join, LOCAL, 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


@contextlib.contextmanager
def process(target: Callable[..., None], *arguments: int) -> Iterator[int]:
    """Run ``target`` in a process of its own; yields the port that it reports."""
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("spawn").Process(target=target, args=(there, *arguments))
    child.start()
    try:
        yield int(here.recv())
    finally:
        child.terminate()
        child.join()


def round_trip(sock: socket.socket, message: int, repeats: int) -> float:
    """Median round trip of one echoed message, in microseconds."""
    request = _REQUEST.pack(b"e", message) + bytes(message)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        sock.sendall(request)
        _receive(sock, message)
        times.append(time.perf_counter() - start)
    return median(times) * 1e6


def download(sock: socket.socket, size: int) -> float:
    """Bytes per second from the server."""
    start = time.perf_counter()
    sock.sendall(_REQUEST.pack(b"d", size))
    _drop(sock, size)
    return size / (time.perf_counter() - start)


def upload(sock: socket.socket, size: int) -> float:
    """Bytes per second to the server."""
    start = time.perf_counter()
    sock.sendall(_REQUEST.pack(b"u", size))
    _send_many(sock, size)
    _receive(sock, 1)
    return size / (time.perf_counter() - start)


def _receive(sock: socket.socket, size: int) -> bytes:
    parts = []
    while size > 0:
        data = sock.recv(size)
        if not data:
            return b""
        parts.append(data)
        size -= len(data)
    return b"".join(parts)


def _drop(sock: socket.socket, size: int) -> None:
    buffer = bytearray(1 << 20)
    while size > 0:
        count = sock.recv_into(buffer, min(size, len(buffer)))
        if count == 0:
            raise ConnectionError("the other side hung up")
        size -= count


def _send_many(sock: socket.socket, size: int) -> None:
    for _ in range(size // len(PIECE)):
        sock.sendall(PIECE)


Measures = dict[str, dict[str, list[float]]]


def measure(ports: dict[str, int], options: argparse.Namespace) -> Measures:
    """Measured values by kind and path, one per round."""
    size = options.megabytes << 20
    kinds: dict[str, Callable[[socket.socket], float]] = {
        "round trip": lambda sock: round_trip(sock, options.message, options.repeats),
        "download": lambda sock: download(sock, size),
        "upload": lambda sock: upload(sock, size),
    }
    found: Measures = {kind: {path: [] for path in PATHS} for kind in kinds}
    for number in range(-1, options.rounds):
        turn = number % len(PATHS)
        for path in PATHS[turn:] + PATHS[:turn]:
            for kind, function in kinds.items():
                with socket.create_connection((LOCAL, ports[path])) as sock:
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    value = function(sock)
                if number >= 0:  # the first round warms up
                    found[kind][path].append(value)
    return found


def report(found: Measures, options: argparse.Namespace) -> None:
    print(f"medians of {options.rounds} interleaved rounds on {LOCAL}")
    print(f"{'':<26}{'direct':>10}{'pipe':>10}{'relay':>10}{'relay/direct':>14}{'relay/pipe':>12}")
    for kind, paths in found.items():
        trip = kind == "round trip"
        title = f"round trip {options.message} B, us" if trip else f"{kind}, MB/s"
        values = "".join(f"{median(paths[p]) / (1 if trip else 1e6):>10.0f}" for p in PATHS)
        print(f"{title:<26}{values}{_ratio(paths, 'direct'):>14.2f}{_ratio(paths, 'pipe'):>12.2f}")
    trips = found["round trip"]
    for path in ("pipe", "relay"):
        added = median(a - b for a, b in zip(trips[path], trips["direct"], strict=True))
        print(f"added by the {path + ':':<7}{added:6.0f} us per round trip")


def _ratio(paths: dict[str, list[float]], base: str) -> float:
    return median(a / b for a, b in zip(paths["relay"], paths[base], strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--megabytes", type=int, default=128, help="per transfer")
    parser.add_argument("--message", type=int, default=1800, help="bytes of one echoed message")
    parser.add_argument("--repeats", type=int, default=500, help="messages per round")
    options = parser.parse_args()
    with (
        process(serve) as direct,
        process(run_pipe, direct) as pipe,
        process(run_relay, direct) as relay,
    ):
        report(measure({"direct": direct, "pipe": pipe, "relay": relay}, options), options)


if __name__ == "__main__":
    main()
