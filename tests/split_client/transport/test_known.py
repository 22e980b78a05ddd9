"""The file of paired servers."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from split_client.transport.endpoint import Endpoint
from split_client.transport.known import FILE, KnownServers, KnownServersDamaged
from split_client.transport.tls import tls_context
from tests.pipes import pipe

BOX, OTHER = Endpoint.parse("https://Box.local:8095"), Endpoint.parse("https://box.local:9095")


def test_a_server_is_found_by_host_and_port(tmp_path: Path) -> None:
    servers = KnownServers(tmp_path)
    servers.remember(BOX, "token", "pem", "phone", "id1")
    found = servers.find(Endpoint.parse("https://box.local:8095/prefix"))
    assert found is not None
    assert (found.token, found.ca) == ("token", "pem")
    assert servers.find(OTHER) is None


def test_pairing_again_replaces_and_forgetting_forgets_one(tmp_path: Path) -> None:
    servers = KnownServers(tmp_path)
    servers.remember(BOX, "old", None, "phone", "id1")
    servers.remember(OTHER, "other", None, "phone", "id2")
    servers.remember(BOX, "new", None, "phone", "id3")
    assert [server.token for server in servers.all()] == ["other", "new"]
    assert servers.forget(BOX)
    assert not servers.forget(BOX)
    assert [server.token for server in servers.all()] == ["other"]


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    servers = KnownServers(tmp_path / "new" / "folder")
    servers.remember(BOX, "token", None, "phone", "id1")
    assert stat.S_IMODE(servers.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "{}", '{"servers": [{"token": 1}]}', "[" * 100_000])
def test_a_damaged_file_is_told_and_kept(tmp_path: Path, content: str) -> None:
    servers = KnownServers(tmp_path)
    (tmp_path / FILE).write_text(content)
    with pytest.raises(KnownServersDamaged, match="pair again"):
        servers.find(BOX)
    with pytest.raises(KnownServersDamaged):
        servers.remember(BOX, "token", None, "phone", "id")
    assert (tmp_path / FILE).read_text() == content


_SERVER = {"authority": "box.local:8095", "token": "t", "ca": None, "name": "n", "id": "i"}


@pytest.mark.parametrize(
    "document",
    [
        {"version": True, "servers": []},
        {"version": 1.0, "servers": []},
        {"version": 2, "servers": []},
        *(
            {"version": 1, "servers": [_SERVER | {field: "\ud800"}]}
            for field in ("authority", "token", "ca", "name", "id")
        ),
        {"version": 1, "servers": [_SERVER | {"name": "a\x1b[31m"}]},
    ],
)
def test_what_this_program_never_writes_is_damage(tmp_path: Path, document: object) -> None:
    (tmp_path / FILE).write_text(json.dumps(document))
    with pytest.raises(KnownServersDamaged, match="it is damaged"):
        KnownServers(tmp_path).find(BOX)


def test_a_key_that_occurs_twice_is_damage(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"version": 1, "servers": [], "servers": []}')
    with pytest.raises(KnownServersDamaged, match="it is damaged"):
        KnownServers(tmp_path).all()


def test_a_pipe_is_told_and_not_waited_for(tmp_path: Path) -> None:
    servers = KnownServers(tmp_path)
    with (
        pipe(servers.path, b'{"version": 1, "servers": []}'),
        pytest.raises(KnownServersDamaged, match="not a regular file"),
    ):
        servers.all()


@pytest.mark.parametrize("ca", ["", "-----BEGIN CERTIFICATE-----", "\x00"])
def test_a_certificate_that_is_none_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ca: str
) -> None:
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path))
    KnownServers(tmp_path).remember(BOX, "token", ca, "phone", "id")
    with pytest.raises(KnownServersDamaged, match="a certificate in it is damaged"):
        tls_context(BOX)
