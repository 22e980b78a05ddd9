"""Bytes of the server's weights over HTTP, whole or from the middle."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator

import httpx

from split_client.errors import ConnectionLost, DownloadFailed, ServerRefused
from split_client.transport.endpoint import Endpoint
from split_client.transport.http import UNREACHED, http_client
from split_client.transport.reach.diagnosis import misunderstood, unreachable
from split_client.transport.refusal import read_refusal
from split_client.transport.timed import TimedClient
from split_client.weights.manifest import FILE_NAME, MAX_MANIFEST_BYTES

_MAX_REFUSAL_BYTES = 64 * 1024
# For the whole manifest, and for a file: a day, within which it has to keep up a pace.
_MANIFEST_SECONDS, _LONGEST_SECONDS = 120.0, 86_400.0
_PACE_SECONDS, _LEAST_BYTES_PER_SECOND = 60.0, 1024
_PARTIAL, _WHOLE = 206, 200
# Packed forms of its files that a server tells of, beside the manifest.
_PACKED_HEADER, _MAX_PACKED = "X-Packed", 16
_SOMEBODY_ELSE = "not_a_split_server"


class WeightsSource:
    """The folder ``/weights`` of one server."""

    def __init__(
        self,
        endpoint: Endpoint,
        token: str | None,
        connect_timeout: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint, self._connect_timeout = endpoint, connect_timeout
        self._clock = clock
        # Names of packed forms of its files, as the answer with the manifest told them.
        self.packed: frozenset[str] = frozenset()
        self._client = http_client(endpoint, token, connect_timeout)
        self._timed = TimedClient(self._client)

    def manifest(self) -> bytes:
        """The manifest's bytes. Raises ServerUnreachable, ConnectionLost, ServerRefused.

        It is the first thing that is asked of a server, so a port that is none of ours shows here.
        """
        body = bytearray()
        try:
            for part in self._stream(FILE_NAME, 0, _MANIFEST_SECONDS):
                body += part
                if len(body) > MAX_MANIFEST_BYTES:
                    raise DownloadFailed(FILE_NAME, f"it is longer than {MAX_MANIFEST_BYTES} bytes")
        except (ConnectionLost, ServerRefused) as error:
            if error.code not in (ConnectionLost.code, _SOMEBODY_ELSE):
                raise
            if (found := misunderstood(self._endpoint)) is not None:
                raise found from error
            raise
        return bytes(body)

    def read(self, file: str, start: int) -> Iterator[bytes]:
        """The bytes of ``file`` from ``start`` on, in pieces.

        Raises what :meth:`manifest` raises.
        """
        return self._stream(file, start, math.inf)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _stream(self, file: str, start: int, seconds: float) -> Iterator[bytes]:
        headers = {"Range": f"bytes={start}-"} if start else {}
        url = f"{self._endpoint.url}/weights/{file}"
        pace = _Pace(self._clock)
        request = self._client.build_request("GET", url, headers=headers)
        try:
            with self._timed.exchange(request, min(seconds, _LONGEST_SECONDS)) as response:
                skip = _bytes_to_skip(response, file, start)
                if file == FILE_NAME:
                    self.packed = _packed(response)
                for part in response.iter_raw():
                    pace.check(len(part))
                    skipped = min(skip, len(part))
                    skip -= skipped
                    yield part[skipped:]
        except UNREACHED as error:
            probe = seconds <= _MANIFEST_SECONDS
            raise unreachable(self._endpoint, error, self._connect_timeout, probe=probe) from error
        except httpx.HTTPError as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error


class _Pace:
    """The least speed of a download: a kilobyte a second over each of its first and later minutes.

    Slower ones begin again where they were, over another connection.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since, self._bytes = clock(), 0

    def check(self, size: int) -> None:
        """Count a piece. Raises httpx.ReadTimeout."""
        self._bytes += size
        passed = self._clock() - self._since
        if passed < _PACE_SECONDS:
            return
        if self._bytes < passed * _LEAST_BYTES_PER_SECOND:
            raise httpx.ReadTimeout(f"{self._bytes} bytes in {passed:.0f} s")
        self._since, self._bytes = self._clock(), 0


def _packed(response: httpx.Response) -> frozenset[str]:
    names = response.headers.get(_PACKED_HEADER, "").split(",", _MAX_PACKED)[:_MAX_PACKED]
    return frozenset(name.strip() for name in names)


def _bytes_to_skip(response: httpx.Response, file: str, start: int) -> int:
    """A server may answer a range with the whole file. Raises the refusal of any other status."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise DownloadFailed(file, "something on the way compresses it")
    if response.status_code == _WHOLE:
        return start
    if response.status_code == _PARTIAL:
        if not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            raise DownloadFailed(file, "the server answered with another range")
        return 0
    raise _refusal(response, file)


def _refusal(response: httpx.Response, file: str) -> Exception:
    body = bytearray()
    for part in response.iter_raw():
        body += part
        if len(body) > _MAX_REFUSAL_BYTES:
            break
    refused = read_refusal(bytes(body), response.headers.get("Retry-After"))
    if refused is not None:
        return refused
    status = response.status_code
    if status >= 500:
        return ConnectionLost(f"HTTP status {status}")
    return ServerRefused(
        _SOMEBODY_ELSE,
        f"{file}: HTTP status {status}; this is not a split server, check the URL",
    )
