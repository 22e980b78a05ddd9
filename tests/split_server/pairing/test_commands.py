"""``split-server pair``: an address that devices will believe, or none."""

from __future__ import annotations

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
