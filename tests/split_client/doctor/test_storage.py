"""The cache folder that cannot be written to or is too small, and the model in it."""

from __future__ import annotations

import errno
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from split_client.api import SplitClient
from split_client.doctor.finding import Finding
from tests.server_process import RunningServer
from tests.split_client.doctor.examined import findings, named
from tests.split_client.servers import http_server, respond
from tests.split_client.weights.offers import document, encoded

_CHUNK = 64 << 20
_WIDTH, _ROWS = 1 << 16, 1 << 22


def _huge_manifest() -> bytes:
    """A model of a tebibyte: more than a disk that runs tests has free."""
    size = _WIDTH * _ROWS * 4
    entry = {
        "name": "embedding.bin",
        "size": size,
        "sha256": "0" * 64,
        "chunk_size": _CHUNK,
        "chunks": [sha256(b"").hexdigest()] * (size // _CHUNK),
    }
    ends = document()["ends"]
    ends["embedding"]["rows"] = ends["lm_head"]["rows"] = _ROWS
    files = [entry, *document()["files"][1:]]
    return encoded(document(hidden_size=_WIDTH, vocab_size=_ROWS, ends=ends, files=files))


def _offered(manifest: bytes, **settings: Any) -> dict[str, Finding]:
    def get(handler: Any) -> None:
        health = handler.path == "/health"
        respond(handler, 200, b'{"status": "ok"}' if health else manifest)

    with http_server(get=get) as endpoint:
        return findings(endpoint.url, **settings)


def test_a_disk_that_is_too_small_for_the_model_is_named() -> None:
    found = _offered(_huge_manifest())["cache"]
    assert (found.state, found.cause) == ("problem", "cache_full")
    assert "1.1 TB" in found.message
    assert "--remove" in found.advice


def test_a_cache_folder_that_cannot_be_made_is_named(
    server: RunningServer, token: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    found = findings(server.url, token=token, cache=tmp_path / "file" / "cache")
    assert named(found) == {"cache": "cache_unwritable"}
    assert "SPLIT_CACHE" in found["cache"].advice
    assert found["step"].state == "ok"


def test_a_folder_of_the_kernel_is_named_as_one_that_takes_no_files(
    server: RunningServer, token: str
) -> None:
    found = findings(server.url, token=token, cache=Path("/proc/self"))
    assert found["cache"].cause == "cache_unwritable"


def test_a_disk_without_room_for_one_file_is_named(
    server: RunningServer, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert named(findings(server.url, token=token)) == {"cache": "cache_full"}


def test_nothing_stays_in_the_folder(server: RunningServer, token: str, cache: Path) -> None:
    found = findings(server.url, token=token)
    assert found["cache"].state == "ok"
    assert not cache.exists()


def test_a_model_that_is_not_stored_is_announced_with_its_size(
    server: RunningServer, token: str
) -> None:
    found = findings(server.url, token=token)["model"]
    assert found.facts["stored"] is False
    assert "not stored yet" in found.message


def test_a_stored_model_is_told(server: RunningServer, token: str, cache: Path) -> None:
    with SplitClient(server.url, token=token, cache=cache):
        pass
    assert findings(server.url, token=token)["model"].facts["stored"] is True


def test_a_model_that_changed_since_it_was_pulled_is_told(
    server: RunningServer, token: str, cache: Path
) -> None:
    with SplitClient(server.url, token=token, cache=cache) as client:
        name = client.manifest.name
    found = _offered(encoded(document(model__name=name)))["model"]
    assert "changed since it was pulled" in found.message
