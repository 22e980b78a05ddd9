"""``split-server pair``: an address that devices will believe, or none."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from split_server.pairing.beacon import FILE, Running, leave, running
from split_server.pairing.certificate import LanCertificate, utc_now
from split_server.pairing.codes import FILE as CODES
from split_server.pairing.commands import AddressNotVouched, NoServer, invitation
from split_server.pairing.local_ca import LocalAuthority
from split_server.pairing.state import StateFolder

PUBLIC, LAN = "https://198.51.100.7:8095", "https://192.168.1.7:8095"
NOW = 1000.0


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    """Of a server whose certificate is for 192.168.1.7 and box.local."""
    folder = StateFolder(tmp_path)
    LanCertificate(
        LocalAuthority.open(folder, utc_now()), folder, ["box.local"], lambda: ["192.168.1.7"]
    )
    return folder


def test_the_first_address_that_the_certificate_is_for_is_shown(state: StateFolder) -> None:
    leave(state, [PUBLIC, LAN], local=True)
    made = invitation(state, None, NOW)
    assert (made.url, made.doubt) == (LAN, "")
    assert made.fingerprint is not None


def test_no_code_is_made_for_a_server_that_no_device_would_believe(state: StateFolder) -> None:
    leave(state, [PUBLIC], local=True)
    with pytest.raises(AddressNotVouched, match=r"198\.51\.100\.7.*--tls-cert"):
        invitation(state, None, NOW)
    assert state.read(CODES) is None


@pytest.mark.parametrize("url", [PUBLIC, "https://chat.example.org"])
def test_an_address_in_words_is_shown_with_what_speaks_against_it(
    state: StateFolder, url: str
) -> None:
    made = invitation(state, url, NOW)
    assert made.url == url
    assert "the server's own certificate is not for" in made.lines(5)[-1]


@pytest.mark.parametrize("url", [f"{LAN}/", "https://BOX.local:9095", "https://localhost"])
def test_an_address_of_the_certificate_raises_no_doubt(state: StateFolder, url: str) -> None:
    assert invitation(state, url, NOW).doubt == ""


@pytest.mark.parametrize("url", ["192.168.1.7:8095", "https://", "https://[::1", "ftp://a"])
def test_what_is_no_address_makes_no_code(state: StateFolder, url: str) -> None:
    with pytest.raises(NoServer, match=r"write it like https://192\.168\.1\.7:8095"):
        invitation(state, url, NOW)
    assert state.read(CODES) is None


def test_a_certificate_of_ones_own_is_for_any_address_and_has_no_fingerprint(
    state: StateFolder,
) -> None:
    leave(state, [PUBLIC], local=False)
    made = invitation(state, None, NOW)
    assert (made.url, made.fingerprint, made.doubt) == (PUBLIC, None, "")


def test_without_a_server_there_is_no_address(tmp_path: Path) -> None:
    with pytest.raises(NoServer, match="serve --lan"):
        invitation(StateFolder(tmp_path), None, NOW)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"urls": ["https://a"]}', Running(("https://a",), None)),
        (b'{"urls": "a", "local": 1}', Running()),
        (b"[]", Running()),
        (b"{", Running()),
    ],
)
def test_what_an_older_server_left_and_what_is_damaged_is_read_as_far_as_it_goes(
    tmp_path: Path, data: bytes, expected: Running
) -> None:
    state = StateFolder(tmp_path)
    state.write(FILE, data)
    assert running(state) == expected


def test_several_servers_have_an_entry_each_and_the_newest_comes_first(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    leave(state, ["https://old"], local=True)
    for name, url in (("a", "https://1"), ("b", "https://2"), ("a", "https://3")):
        leave(state, [url], local=True, replica=name)
    assert running(state) == Running(("https://3", "https://2"), True, None, ("a", "b"))
    for number in range(200):
        leave(state, ["https://x"], local=True, replica=f"pod-{number}")
    assert len(running(state).replicas) == 64
    assert running(state).replicas[0] == "pod-199"
    leave(state, [LAN], local=False)
    assert running(state) == Running((LAN,), False)


def test_servers_that_start_at_the_same_time_all_leave_their_address(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    threads = [
        threading.Thread(
            target=leave, args=(state, [f"https://{i}"]), kwargs={"local": True, "replica": f"r{i}"}
        )
        for i in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(running(state).replicas) == {f"r{i}" for i in range(12)}


@pytest.mark.parametrize(
    "data",
    [
        b'{"replicas": 3}',
        b'{"replicas": [3, {"name": "../ca"}, {"name": "a", "urls": 3, "local": 1, "public": 2}]}',
    ],
)
def test_entries_that_are_damaged_are_left_out(tmp_path: Path, data: bytes) -> None:
    state = StateFolder(tmp_path)
    state.write(FILE, data)
    assert running(state).urls == ()
    assert "../ca" not in running(state).replicas
    leave(state, [LAN], local=True, replica="b")
    assert running(state).urls == (LAN,)


def test_the_public_address_is_told_before_those_of_the_servers(state: StateFolder) -> None:
    leave(state, [LAN], local=True, public="https://box.local", replica=None)
    made = invitation(state, None, NOW)
    assert (made.url, made.doubt) == ("https://box.local", "")
    assert made.fingerprint is not None


def test_a_public_name_that_the_local_authority_is_not_for_has_a_certificate_of_its_own(
    state: StateFolder,
) -> None:
    leave(state, [LAN], local=True, public="https://chat.example.org")
    made = invitation(state, None, NOW)
    assert (made.url, made.fingerprint, made.doubt) == ("https://chat.example.org", None, "")
