"""The local authority signs for the local network, and for nothing else."""

from __future__ import annotations

import datetime
import ssl
import stat
import threading
from pathlib import Path

import pytest
from cryptography import x509

from split_server.pairing.errors import StateUnusable
from split_server.pairing.local_ca import CERTIFICATE, KEY, LocalAuthority, lan_address, local_name
from split_server.pairing.state import StateFolder
from tests.patience import PATIENCE

NOW = datetime.datetime.now(datetime.UTC)


def _handshake(authority: LocalAuthority, folder: Path, names: list[str], host: str) -> None:
    """A TLS handshake of OpenSSL's over a socket pair; raises what the client finds wrong."""
    addresses = [name for name in names if name[0].isdigit()]
    issued = authority.issue([n for n in names if n not in addresses], addresses, NOW)
    (folder / "leaf.pem").write_bytes(issued.certificate)
    (folder / "leaf.key").write_bytes(issued.key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "leaf.pem", folder / "leaf.key")
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.load_verify_locations(cadata=authority.pem.decode())
    into_client, into_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(into_client, into_server, server_hostname=host)
    theirs = server.wrap_bio(into_server, into_client, server_side=True)
    for side in (ours, theirs, ours, theirs, ours):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue


@pytest.fixture
def authority(tmp_path: Path) -> LocalAuthority:
    return LocalAuthority.open(StateFolder(tmp_path / "state"), NOW)


@pytest.mark.parametrize("host", ["192.168.1.7", "10.0.0.3", "127.0.0.1", "box.local", "localhost"])
def test_openssl_accepts_what_it_signs_for_the_local_network(
    authority: LocalAuthority, tmp_path: Path, host: str
) -> None:
    _handshake(authority, tmp_path, ["192.168.1.7", "10.0.0.3", "127.0.0.1", host], host)


@pytest.mark.parametrize("host", ["bank.example.com", "8.8.8.8", "evil-local.com"])
def test_openssl_refuses_the_authority_for_public_names_even_when_it_signed_them(
    authority: LocalAuthority, tmp_path: Path, host: str
) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree"):
        _handshake(authority, tmp_path, [host], host)


def test_a_certificate_is_good_only_for_its_own_addresses(
    authority: LocalAuthority, tmp_path: Path
) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="IP address mismatch"):
        _handshake(authority, tmp_path, ["192.168.1.7"], "192.168.1.8")


def test_the_authority_is_made_once_and_its_key_is_for_its_owner_alone(tmp_path: Path) -> None:
    state = StateFolder(tmp_path / "state")
    first = LocalAuthority.open(state, NOW)
    assert LocalAuthority.open(state, NOW).fingerprint == first.fingerprint
    assert stat.S_IMODE(state.file(KEY).stat().st_mode) == 0o600
    assert stat.S_IMODE(state.path.stat().st_mode) == 0o700


def test_two_authorities_do_not_vouch_for_each_other(tmp_path: Path) -> None:
    first = LocalAuthority.open(StateFolder(tmp_path / "a"), NOW)
    second = LocalAuthority.open(StateFolder(tmp_path / "b"), NOW)
    leaf = x509.load_pem_x509_certificate(first.issue(["localhost"], [], NOW).certificate)
    assert first.signed(leaf)
    assert not second.signed(leaf)


def test_a_damaged_authority_is_told_and_not_replaced(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    LocalAuthority.open(state, NOW)
    state.file(CERTIFICATE).write_bytes(b"not a certificate")
    with pytest.raises(StateUnusable, match="damaged"):
        LocalAuthority.open(state, NOW)
    assert state.file(CERTIFICATE).read_bytes() == b"not a certificate"


def test_another_key_beside_the_certificate_is_told(tmp_path: Path) -> None:
    state, other = StateFolder(tmp_path / "a"), StateFolder(tmp_path / "b")
    LocalAuthority.open(state, NOW)
    LocalAuthority.open(other, NOW)
    state.write(KEY, other.file(KEY).read_bytes())
    with pytest.raises(StateUnusable, match="not the key"):
        LocalAuthority.open(state, NOW)


def test_a_start_that_was_cut_between_the_two_files_begins_anew(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    LocalAuthority.open(state, NOW)
    state.file(CERTIFICATE).unlink()
    again = LocalAuthority.open(state, NOW)
    assert again.pem == state.read(CERTIFICATE)


def test_names_and_addresses_are_local_or_not() -> None:
    assert all(map(local_name, ["localhost", "box.local", "a.b.home.arpa", "nas.lan"]))
    assert not any(map(local_name, ["example.com", "local.example.com", "notlocal", "xlan"]))
    assert all(map(lan_address, ["10.1.2.3", "192.168.0.1", "fd00::1", "::1", "100.64.0.9"]))
    assert not any(map(lan_address, ["8.8.8.8", "2001:4860::1", "172.32.0.1"]))


def test_servers_that_start_at_the_same_time_make_one_authority(tmp_path: Path) -> None:
    state, made = tmp_path / "state", list[bytes]()
    ready = threading.Barrier(8)

    def start() -> None:
        ready.wait(PATIENCE)
        made.append(LocalAuthority.open(StateFolder(state), NOW).fingerprint)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(made) == 8
    assert len(set(made)) == 1


def test_a_key_that_a_network_did_not_show_yet_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, stale = StateFolder(tmp_path), list[str]()
    first = LocalAuthority.open(StateFolder(tmp_path), NOW)
    read = StateFolder.read

    def remembered(folder: StateFolder, name: str) -> bytes | None:
        if name in stale:
            stale.remove(name)
            return None
        return read(folder, name)

    monkeypatch.setattr(StateFolder, "read", remembered)
    # At the first look, under the lock, and before it is written.
    stale += 3 * [KEY, CERTIFICATE]
    assert LocalAuthority.open(state, NOW).fingerprint == first.fingerprint
