"""Weights that are not there, not as they were or do not fit on the disk, pulled by the client.

The server's checkpoint is a copy that the tests spoil; its other session generates on.
"""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from split_client.api import SplitClient
from split_client.errors import ChecksumMismatch, ModelChanged, ServerRefused
from split_client.generation.sampling.params import SamplingParams
from split_client.transport.channel import Patience
from tests import oracle
from tests.end_to_end.bystander import undisturbed
from tests.server_process import RunningServer, running_server
from tests.split_client.servers import http_server, respond

WEIGHTS = "model.safetensors"
_LIMITED_PULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
from split_client.cli import main
sys.exit(main(["pull", "--url", {url!r}, "--cache", {cache!r}]))
"""


@pytest.fixture
def checkpoint(tiny_path: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_path, tmp_path / "served")


@pytest.fixture
def server(checkpoint: Path, tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(checkpoint) as running, undisturbed(running, tiny_path):
        yield running


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def kept(cache: Path) -> set[str]:
    """Names of the weight files that are in the cache."""
    return {path.name for path in cache.rglob("*.bin")}


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    shutil.copy(path, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def shorten(path: Path) -> None:
    os.truncate(path, 1000)


def rewrite(path: Path) -> None:
    """Zeros in place, with the size and the time of before: nobody can tell but by the bytes."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(before.st_size // 10)
        file.write(bytes(before.st_size - before.st_size // 10))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("spoil", [remove, replace, shorten])
def test_a_weights_file_that_changed_on_the_server_is_not_served(
    spoil: Callable[[Path], None], server: RunningServer, checkpoint: Path, cache: Path
) -> None:
    spoil(checkpoint / WEIGHTS)
    with server.client() as client:
        response = client.get("/weights/embedding.bin")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "weights_changed")
    with pytest.raises(ServerRefused, match="restart the server") as caught:
        SplitClient(server.url, cache=cache).connect()
    assert caught.value.code == "weights_changed"
    assert not kept(cache)


def test_bytes_that_changed_unnoticed_have_a_wrong_checksum_and_the_model_runs_on(
    server: RunningServer, checkpoint: Path, cache: Path
) -> None:
    rewrite(checkpoint / WEIGHTS)
    with pytest.raises(ChecksumMismatch, match=r"embedding\.bin") as caught:
        SplitClient(server.url, cache=cache).connect()
    assert caught.value.code == "checksum_mismatch"
    assert not kept(cache)


Tamper = Callable[[str, bytes], bytes]


@contextmanager
def tampering(server: RunningServer, tamper: Tamper) -> Iterator[str]:
    """The URL of a proxy that passes requests on and answers as ``tamper(path, body)`` says."""

    def forward(handler: http.server.BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        names = ("Content-Type", "Range")
        headers = {name: handler.headers[name] for name in names if name in handler.headers}
        with server.client(headers=headers) as client:
            answer = client.request(handler.command, handler.path, content=body)
        content = tamper(handler.path, answer.content)
        respond(handler, answer.status_code, content, answer.headers["Content-Type"])

    with http_server(get=forward, post=forward) as endpoint:
        yield endpoint.url


@pytest.mark.parametrize("file", ["embedding.bin", "tokenizer.json"])
def test_weights_that_are_tampered_with_on_the_way_have_a_wrong_checksum(
    file: str, server: RunningServer, cache: Path
) -> None:
    def tamper(path: str, body: bytes) -> bytes:
        return body[:99] + bytes([body[99] ^ 1]) + body[100:] if path.endswith(file) else body

    with tampering(server, tamper) as url, pytest.raises(ChecksumMismatch, match=file):
        SplitClient(url, cache=cache).connect()
    assert file not in {path.name for path in cache.rglob("*")}


def test_a_manifest_that_is_tampered_with_is_another_model(
    server: RunningServer, cache: Path
) -> None:
    def tamper(path: str, body: bytes) -> bytes:
        return body.replace(b'"served"', b'"stolen"') if "manifest" in path else body

    with (
        tampering(server, tamper) as url,
        SplitClient(url, cache=cache) as client,
        pytest.raises(ModelChanged),
    ):
        client.generate("Hello", max_tokens=2).read()


def test_an_untouched_proxy_serves_the_same_tokens(
    server: RunningServer, tiny_path: Path, cache: Path
) -> None:
    with tampering(server, lambda _, body: body) as url, SplitClient(url, cache=cache) as client:
        reply = client.generate("Hello", SamplingParams(), max_tokens=8)
        reply.read()
        prompt = client.ends.tokenizer.encode("Hello", add_special_tokens=True)
        assert client.stats.transport == "http"
    assert reply.token_ids == oracle.greedy(tiny_path, prompt, 8)


def test_a_file_that_is_not_served_has_its_code(server: RunningServer, cache: Path) -> None:
    def tamper(path: str, body: bytes) -> bytes:
        return body.replace(b'"embedding.bin"', b'"elsewhere.bin"') if "manifest" in path else body

    with tampering(server, tamper) as url, pytest.raises(ServerRefused) as caught:
        SplitClient(url, cache=cache, patience=Patience(total=1)).connect()
    assert caught.value.code == "not_found"


def test_a_disk_that_fills_up_stops_a_pull_which_continues_once_there_is_room(
    server: RunningServer, cache: Path
) -> None:
    """The limit on the size of a file (RLIMIT_FSIZE) fails the same writes as a full disk."""
    limit = 48 * 1024
    script = _LIMITED_PULL.format(limit=limit, url=server.url, cache=str(cache))
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", script]
    full = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert full.returncode == 1
    assert "[disk_full]" in full.stderr
    assert "Traceback" not in full.stderr
    assert [folder.suffix for folder in (cache / "models").iterdir() if folder.is_dir()] == [
        ".part"
    ]
    with SplitClient(server.url, cache=cache) as client:
        assert client.generate("Hello", max_tokens=2).read()
