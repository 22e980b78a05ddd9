"""The file of paired servers."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from split_client.transport.endpoint import Endpoint
from split_client.transport.known import FILE, KnownServers, KnownServersDamaged
from split_client.transport.routing.ids import is_id
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


def test_a_server_has_one_routing_id_however_its_address_is_written(tmp_path: Path) -> None:
    servers = KnownServers(tmp_path)
    made = servers.routing_id(BOX)
    assert is_id(made)
    assert made != servers.routing_id(OTHER)
    assert KnownServers(tmp_path).routing_id(Endpoint.parse("https://box.local:8095/m")) == made
    assert stat.S_IMODE(servers.path.stat().st_mode) == 0o600


def test_a_pairing_and_its_end_make_another_routing_id(tmp_path: Path) -> None:
    servers = KnownServers(tmp_path)
    seen = [servers.routing_id(BOX)]
    servers.remember(BOX, "token", None, "phone", "id1")
    seen.append(servers.routing_id(BOX))
    servers.remember(BOX, "token", None, "phone", "id2")
    seen.append(servers.routing_id(BOX))
    servers.forget(BOX)
    seen.append(servers.routing_id(BOX))
    seen.append(servers.route_anew(BOX))
    assert servers.routing_id(BOX) == seen[-1]
    assert len({*seen}) == len(seen)


def test_routing_ids_leave_pairings_as_they_are(tmp_path: Path) -> None:
    servers = KnownServers(tmp_path)
    servers.remember(BOX, "token", "pem", "phone", "id1")
    servers.routing_id(OTHER)
    servers.route_anew(BOX)
    assert [server.token for server in servers.all()] == ["token"]


def test_of_many_servers_the_last_ones_keep_their_routing_ids(tmp_path: Path) -> None:
    servers = KnownServers(tmp_path)
    ids = [servers.routing_id(Endpoint.parse(f"http://box:{port}")) for port in range(1, 71)]
    assert servers.routing_id(Endpoint.parse("http://box:70")) == ids[-1]
    assert len(json.loads(servers.path.read_text())["routing"]) == 64


@pytest.mark.parametrize("routing", [None, [], 7, {"box.local:8095": "x&y=1"}, {"box": None}])
def test_a_routing_id_that_is_none_is_made_anew(tmp_path: Path, routing: object) -> None:
    document = {"version": 1, "servers": [_SERVER], "routing": routing}
    (tmp_path / FILE).write_text(json.dumps(document))
    servers = KnownServers(tmp_path)
    assert is_id(servers.routing_id(BOX))
    assert servers.routing_id(BOX) == servers.routing_id(BOX)
    assert servers.all()[0].token == "t"


@pytest.mark.parametrize("content", ["", "[" * 100_000])
def test_a_routing_id_that_cannot_be_kept_is_another_one_each_time(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / FILE).write_text(content)
    servers = KnownServers(tmp_path)
    assert is_id(servers.routing_id(BOX))
    assert servers.routing_id(BOX) != servers.routing_id(BOX) != servers.route_anew(BOX)
    assert (tmp_path / FILE).read_text() == content


def test_programs_that_begin_at_once_lose_neither_pairings_nor_their_common_id(
    tmp_path: Path,
) -> None:
    def program(number: int) -> str:
        servers = KnownServers(tmp_path)
        endpoint = Endpoint.parse(f"http://box:{1000 + number}")
        servers.remember(endpoint, f"token {number}", None, "phone", "id")
        return servers.routing_id(BOX)

    with ThreadPoolExecutor(8) as pool:
        assert len({*pool.map(program, range(24))}) == 1
    assert len(KnownServers(tmp_path).all()) == 24
