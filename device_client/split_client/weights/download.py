"""Bytes of the server's weights over HTTP, whole or from the middle."""

from __future__ import annotations

from collections.abc import Iterator

import httpx

from split_client.errors import ConnectionLost, DownloadFailed, ServerRefused, ServerUnreachable
from split_client.transport.endpoint import Endpoint
from split_client.transport.http import http_client
from split_client.transport.refusal import read_refusal
from split_client.weights.manifest import FILE_NAME, MAX_MANIFEST_BYTES

_MAX_REFUSAL_BYTES = 64 * 1024
_PARTIAL, _WHOLE = 206, 200


class WeightsSource:
    """The folder ``/weights`` of one server."""

    def __init__(
        self, endpoint: Endpoint, token: str | None, connect_timeout: float = 10.0
    ) -> None:
        self._endpoint = endpoint
        self._client = http_client(endpoint, token, connect_timeout)

    def manifest(self) -> bytes:
        """The manifest's bytes. Raises ServerUnreachable, ConnectionLost, ServerRefused."""
        body = bytearray()
        for part in self._stream(FILE_NAME, 0):
            body += part
            if len(body) > MAX_MANIFEST_BYTES:
                raise DownloadFailed(FILE_NAME, f"it is longer than {MAX_MANIFEST_BYTES} bytes")
        return bytes(body)

    def read(self, file: str, start: int) -> Iterator[bytes]:
        """The bytes of ``file`` from ``start`` on, in pieces.

        Raises what :meth:`manifest` raises.
        """
        return self._stream(file, start)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _stream(self, file: str, start: int) -> Iterator[bytes]:
        headers = {"Range": f"bytes={start}-"} if start else {}
        url = f"{self._endpoint.url}/weights/{file}"
        try:
            with self._client.stream("GET", url, headers=headers) as response:
                skip = _bytes_to_skip(response, file, start)
                for part in response.iter_raw():
                    skipped = min(skip, len(part))
                    skip -= skipped
                    yield part[skipped:]
        except httpx.ConnectError as error:
            raise ServerUnreachable(self._endpoint.authority, str(error)) from error
        except httpx.HTTPError as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error


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
        "not_a_split_server",
        f"{file}: HTTP status {status}; this is not a split server, check the URL",
    )
