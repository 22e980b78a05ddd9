"""Downloads over a real socket: bytes, ranges, tags, and readers that misbehave."""

from __future__ import annotations

import hashlib
import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest
from safetensors.numpy import load_file

from split_server.checkpoint import slices
from split_server.checkpoint.catalog import Catalog, ends_of
from split_server.checkpoint.folder import read_checkpoint
from split_server.http.split import weights
from split_server.serving.config import ServerConfig
from split_server.serving.startup import load_parts
from tests.checkpoints import tiny_checkpoint
from tests.patience import PATIENCE, until
from tests.server_process import RunningServer, running_server


@pytest.fixture
def client(open_server: RunningServer) -> Iterator[httpx.Client]:
    with open_server.client() as client:
        yield client


def _manifest(client: httpx.Client) -> dict:
    return client.get("/weights/manifest.json").json()


def test_every_file_of_the_manifest_has_its_size_and_digest(client: httpx.Client) -> None:
    files = _manifest(client)["files"]
    assert {file["name"] for file in files} >= {"embedding.bin", "tokenizer.json"}
    for file in files:
        response = client.get(f"/weights/{file['name']}")
        assert response.status_code == 200
        assert len(response.content) == file["size"] == int(response.headers["content-length"])
        assert hashlib.sha256(response.content).hexdigest() == file["sha256"]
        assert response.headers["etag"] == f'"{file["sha256"]}"'
        assert response.headers["accept-ranges"] == "bytes"
        assert "content-encoding" not in response.headers
        assert "no-transform" in response.headers["cache-control"]


def test_the_digest_of_the_manifest_is_its_tag_and_what_open_answers_to(
    client: httpx.Client, open_server: RunningServer
) -> None:
    response = client.get("/weights/manifest.json")
    digest = hashlib.sha256(response.content).hexdigest()
    assert response.headers["etag"] == f'"{digest}"'
    assert open_server.manifest == digest


def test_the_embedding_is_the_checkpoints(client: httpx.Client, tiny_path: Path) -> None:
    rows = load_file(tiny_path / "model.safetensors")["model.embed_tokens.weight"]
    assert client.get("/weights/embedding.bin").content == rows.tobytes()


@pytest.mark.parametrize("name", ["embed_tokens.bin", "lm_head.bin"])
def test_legacy_files_are_numpys_float16_and_say_that_they_are_lossy(
    name: str, client: httpx.Client, tiny_path: Path
) -> None:
    rows = load_file(tiny_path / "model.safetensors")["model.embed_tokens.weight"]
    halves = rows.astype("<f2")
    response = client.get(f"/weights/{name}")
    assert response.content == halves.tobytes()
    changed = np.count_nonzero(halves.astype(np.float32) != rows)
    assert response.headers["x-lossy"] == f"float16; changed-values={changed}"
    odd = client.get(f"/weights/{name}", headers={"Range": "bytes=7-1030"})
    assert odd.content == halves.tobytes()[7:1031]


def test_float16_checkpoints_lose_nothing_in_legacy_files(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "c", dtype="float16")
    with running_server(path) as server, server.client() as client:
        legacy = client.get("/weights/embed_tokens.bin")
        assert "x-lossy" not in legacy.headers
        assert legacy.content == client.get("/weights/embedding.bin").content


def test_packed_rows_are_told_of_beside_the_manifest_and_served_like_any_file(
    tmp_path: Path,
) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "c", dtype="bfloat16")
    size = ends_of(read_checkpoint(path, "tiny")).embedding.size
    blocks = np.random.default_rng(1).bytes(size // 64 * 34)
    (path / "embedding.bin.q8_0").write_bytes(blocks)
    with running_server(path) as server, server.client() as client:
        assert client.get("/weights/manifest.json").headers["x-packed"] == "embedding.bin.q8_0"
        packed = client.get("/weights/embedding.bin.q8_0")
        assert packed.content == blocks
        assert packed.headers["etag"] == f'"{hashlib.sha256(blocks).hexdigest()}"'
        assert "x-packed" not in packed.headers
        part = client.get("/weights/embedding.bin.q8_0", headers={"Range": "bytes=34-67"})
        assert (part.status_code, part.content) == (206, blocks[34:68])
        (path / "embedding.bin.q8_0").unlink()
        gone = client.get("/weights/embedding.bin.q8_0")
        assert (gone.status_code, gone.json()["error"]["code"]) == (503, "weights_changed")
        assert client.get("/weights/embedding.bin").status_code == 200


def test_a_server_without_packed_rows_tells_of_none(client: httpx.Client) -> None:
    assert "x-packed" not in client.get("/weights/manifest.json").headers
    assert client.get("/weights/embedding.bin.q8_0").status_code == 404


def test_the_tokenizer_is_served_as_json(client: httpx.Client) -> None:
    response = client.get("/weights/tokenizer.json")
    assert response.headers["content-type"] == "application/json"
    assert all(isinstance(merge, str) for merge in json.loads(response.content)["model"]["merges"])


def test_a_range_is_a_part(client: httpx.Client) -> None:
    whole = client.get("/weights/embedding.bin").content
    response = client.get("/weights/embedding.bin", headers={"Range": "bytes=100-299"})
    assert response.status_code == 206
    assert response.content == whole[100:300]
    assert response.headers["content-range"] == f"bytes 100-299/{len(whole)}"
    assert response.headers["content-length"] == "200"


def test_a_download_resumes_where_it_stopped(client: httpx.Client) -> None:
    whole = client.get("/weights/embedding.bin")
    headers = {"Range": "bytes=5000-", "If-Range": whole.headers["etag"]}
    rest = client.get("/weights/embedding.bin", headers=headers)
    assert rest.status_code == 206
    assert whole.content[:5000] + rest.content == whole.content


def test_another_copy_is_not_continued(client: httpx.Client) -> None:
    headers = {"Range": "bytes=5000-", "If-Range": '"of another model"'}
    response = client.get("/weights/embedding.bin", headers=headers)
    assert response.status_code == 200
    assert "content-range" not in response.headers


def test_a_range_beyond_the_end_is_refused(client: httpx.Client) -> None:
    size = len(client.get("/weights/embedding.bin").content)
    response = client.get("/weights/embedding.bin", headers={"Range": f"bytes={size}-"})
    assert response.status_code == 416
    assert response.headers["content-range"] == f"bytes */{size}"
    assert response.content == b""


def test_a_known_copy_is_not_sent_again(client: httpx.Client) -> None:
    tag = client.get("/weights/embedding.bin").headers["etag"]
    response = client.get("/weights/embedding.bin", headers={"If-None-Match": tag})
    assert response.status_code == 304
    assert response.content == b""
    assert response.headers["etag"] == tag


@pytest.mark.parametrize("name", ["manifest.json", "embedding.bin", "lm_head.bin"])
def test_head_tells_the_size_without_the_bytes(name: str, client: httpx.Client) -> None:
    whole = client.get(f"/weights/{name}")
    head = client.head(f"/weights/{name}", headers={"Range": "bytes=0-1"})
    assert head.status_code == 200
    assert head.content == b""
    for header in ("content-length", "etag", "content-type"):
        assert head.headers[header] == whole.headers[header]


@pytest.mark.parametrize(
    "path",
    [
        "/weights/",
        "/weights/model.safetensors",
        "/weights/config.json",
        "/weights/..%2fconfig.json",
        "/weights/%2e%2e/config.json",
        "/weights/..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/weights/%2fetc%2fpasswd",
        "/weights/embedding.bin%00",
        "/weights/embedding.bin/",
        "/weights/....//embedding.bin",
    ],
)
def test_only_listed_names_are_served(path: str, open_server: RunningServer) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = open_server.raw(request.encode())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404")
    assert json.loads(body)["error"]["code"] == "not_found"


def test_another_method_is_refused(client: httpx.Client) -> None:
    response = client.post("/weights/embedding.bin")
    assert response.status_code == 405
    assert response.json()["error"]["code"] == "method_not_allowed"
    assert "GET" in response.headers["allow"]


def test_a_rewritten_file_is_refused_and_the_server_lives_on(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path / "c")
    with running_server(path) as server, server.client() as client:
        (path / "model.safetensors").write_bytes(b"other weights")
        response = client.get("/weights/embedding.bin")
        assert response.status_code == 503
        assert response.json()["error"]["code"] == "weights_changed"
        assert client.get("/weights/tokenizer.json").status_code == 200


class _Endless:
    """A file as large as a real one that counts what is read of it."""

    size = 1 << 30
    read_bytes = 0

    def opened(self) -> _Endless:
        return self

    def __enter__(self) -> slices.ReadAt:
        return self._read

    def __exit__(self, *_: object) -> None:
        return None

    def _read(self, _: int, length: int) -> bytes:
        self.read_bytes += length
        return bytes(length)


@pytest.fixture
def endless(tiny_path: Path) -> Iterator[tuple[RunningServer, _Endless]]:
    parts = load_parts(ServerConfig(model=str(tiny_path), compat=False))
    source = _Endless()
    file = replace(parts.catalog.files["embedding.bin"], source=source)
    catalog = Catalog({"embedding.bin": file}, {})
    with running_server(parts=replace(parts, catalog=catalog), shutdown_grace=1.0) as server:
        yield server, source


_ENDLESS_GET = b"GET /weights/embedding.bin HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_a_slow_reader_costs_a_few_pieces_and_nobody_else_waits(
    endless: tuple[RunningServer, _Endless],
) -> None:
    server, source = endless
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as slow:
        slow.sendall(_ENDLESS_GET)
        slow.recv(1000)
        with server.client() as client:
            for _ in range(20):
                assert client.get("/health").status_code == 200
        # The sockets' own buffers take a few megabytes; the rest of the gigabyte stays unread.
        assert source.read_bytes < 32 << 20


def test_a_stalled_reader_is_cut_off(
    endless: tuple[RunningServer, _Endless],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server, source = endless
    monkeypatch.setattr(_weights_of(server), "_stall", 0.2)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as slow:
        slow.sendall(_ENDLESS_GET)
        slow.recv(1000)
        until(lambda: not _weights_of(server)._quota._held)
        received = 0

        def read_on() -> None:
            nonlocal received
            while piece := slow.recv(1 << 20):
                received += len(piece)

        # An end in order could be taken for that of the file.
        with pytest.raises(ConnectionResetError):
            read_on()
        assert received < source.size
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def _weights_of(server: RunningServer) -> weights.Weights:
    for route in server.app.asgi.routes:
        endpoint = getattr(route, "endpoint", None)
        if isinstance(endpoint, weights.Weights):
            return endpoint
    raise AssertionError("no weights route")


def test_a_reader_that_leaves_stops_the_reading(
    endless: tuple[RunningServer, _Endless],
) -> None:
    server, source = endless
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as leaving:
        leaving.sendall(_ENDLESS_GET)
        leaving.recv(1000)
    until(lambda: not _weights_of(server)._quota._held)
    assert source.read_bytes < source.size


def test_too_many_downloads_of_one_principal_are_refused(
    endless: tuple[RunningServer, _Endless], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _ = endless
    monkeypatch.setattr(_weights_of(server)._quota, "_limit", 1)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as slow:
        slow.sendall(_ENDLESS_GET)
        slow.recv(1000)
        with server.client() as client:
            response = client.get("/weights/manifest.json")
            assert response.status_code == 503
            assert response.json()["error"]["code"] == "overloaded"
            assert response.headers["retry-after"] == "1"
