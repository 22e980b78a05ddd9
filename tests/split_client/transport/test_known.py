"""The file of paired servers."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from split_client.transport.endpoint import Endpoint
from split_client.transport.known import FILE, KnownServers, KnownServersDamaged

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
