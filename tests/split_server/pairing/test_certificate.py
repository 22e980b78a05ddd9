"""The server's certificate follows the machine's addresses and the calendar."""

from __future__ import annotations

import datetime
import ssl
from functools import partial
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from split_server.pairing.certificate import (
    CERTIFICATE,
    KEY,
    LanCertificate,
    given_certificate,
    vouched_for,
)
from split_server.pairing.errors import CertificateUnusable, StateUnusable
from split_server.pairing.local_ca import LEAF_DAYS, LocalAuthority
from split_server.pairing.state import StateFolder

NOW = datetime.datetime(2026, 5, 1, tzinfo=datetime.UTC)


class Machine:
    """Addresses and a clock that a test sets."""

    def __init__(self, folder: Path) -> None:
        self.state = StateFolder(folder)
        self.addresses = ["192.168.1.7", "fe80::1%eth0", "8.8.8.8"]
        self.now = NOW

    def certificate(self, *names: str) -> LanCertificate:
        authority = LocalAuthority.open(self.state, NOW)
        return LanCertificate(
            authority, self.state, names, lambda: self.addresses, lambda: self.now
        )

    def subjects(self) -> set[str]:
        data = self.state.read(CERTIFICATE)
        assert data is not None
        names = x509.load_pem_x509_certificate(data).extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
        return {str(name.value) for name in names.value}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_it_names_local_addresses_and_local_names_alone(machine: Machine) -> None:
    machine.certificate("box.local", "chat.example.com", "192.168.1.99")
    expected = {"localhost", "127.0.0.1", "::1", "192.168.1.7", "fe80::1"}
    assert machine.subjects() == expected | {"box.local", "192.168.1.99"}


def test_a_restart_keeps_the_certificate(machine: Machine) -> None:
    machine.certificate()
    first = machine.state.read(CERTIFICATE)
    assert not machine.certificate().renew()
    assert machine.state.read(CERTIFICATE) == first


def test_a_new_address_is_signed_for_and_a_lost_one_changes_nothing(machine: Machine) -> None:
    certificate = machine.certificate()
    machine.addresses = ["192.168.1.7", "10.0.0.4"]
    assert certificate.renew()
    assert "10.0.0.4" in machine.subjects()
    machine.addresses = ["10.0.0.4"]
    assert not certificate.renew()


def test_it_is_renewed_a_month_before_it_runs_out(machine: Machine) -> None:
    certificate = machine.certificate()
    machine.now = NOW + datetime.timedelta(days=LEAF_DAYS - 33)
    assert not certificate.renew()
    machine.now = NOW + datetime.timedelta(days=LEAF_DAYS - 30)
    assert certificate.renew()


def test_a_key_that_does_not_fit_is_replaced(machine: Machine) -> None:
    machine.certificate()
    other = LocalAuthority.open(machine.state, NOW).issue(["localhost"], [], NOW)
    machine.state.write(KEY, other.key)
    machine.certificate()
    assert not machine.certificate().renew()


def test_a_certificate_of_another_authority_is_replaced(machine: Machine, tmp_path: Path) -> None:
    machine.certificate()
    stranger = LocalAuthority.open(StateFolder(tmp_path / "other"), NOW)
    issued = stranger.issue(["localhost"], ["127.0.0.1", "::1", "192.168.1.7", "fe80::1"], NOW)
    machine.state.write(CERTIFICATE, issued.certificate)
    machine.state.write(KEY, issued.key)
    authority = machine.certificate().authority
    data = machine.state.read(CERTIFICATE)
    assert data is not None
    assert authority.signed(x509.load_pem_x509_certificate(data))


def _given(folder: Path, issued_at: datetime.datetime) -> tuple[Path, Path]:
    """A certificate and its key in files, valid for 397 days from a day before ``issued_at``."""
    authority = LocalAuthority.open(StateFolder(folder / "ca"), NOW)
    issued = authority.issue(["chat.example.org"], [], issued_at)
    (folder / "c.pem").write_bytes(issued.certificate)
    (folder / "k.pem").write_bytes(issued.key)
    return folder / "c.pem", folder / "k.pem"


def test_a_given_certificate_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "c.pem").write_text("no certificate")
    with pytest.raises(CertificateUnusable, match="PEM"):
        given_certificate(tmp_path / "c.pem", tmp_path / "k.pem", NOW)


def test_a_given_certificate_counts_until_it_expires(tmp_path: Path) -> None:
    files = _given(tmp_path, NOW)
    last = NOW + datetime.timedelta(days=LEAF_DAYS - 1)
    assert given_certificate(*files, last).minimum_version is ssl.TLSVersion.TLSv1_2
    with pytest.raises(CertificateUnusable, match=f"expired on {last:%Y-%m-%d}.*renew it"):
        given_certificate(*files, last + datetime.timedelta(seconds=1))


def test_a_given_certificate_of_tomorrow_is_refused(tmp_path: Path) -> None:
    files = _given(tmp_path, NOW + datetime.timedelta(days=3))
    with pytest.raises(CertificateUnusable, match=r"not yet.*clock"):
        given_certificate(*files, NOW)


def test_nobody_is_asked_for_the_passphrase_of_a_given_key(tmp_path: Path) -> None:
    certificate, key = _given(tmp_path, NOW)
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    encrypted = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    key.write_bytes(encrypted)
    with pytest.raises(CertificateUnusable, match="the key is encrypted"):
        given_certificate(certificate, key, NOW)


def test_servers_that_share_a_folder_have_certificates_of_their_own(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    addresses = {"a": ["192.168.1.7"], "b": ["192.168.1.8"]}
    made = {
        name: LanCertificate(
            LocalAuthority.open(state, NOW),
            state,
            (),
            partial(addresses.__getitem__, name),
            replica=name,
        )
        for name in addresses
    }
    # Neither issues one in place of the other's.
    assert not any(certificate.renew() for certificate in made.values())
    assert vouched_for(state, "192.168.1.8", ("a", "b"))
    assert not vouched_for(state, "192.168.1.8", ("a",))
    assert vouched_for(state, "192.168.1.8")
    assert state.read(CERTIFICATE) is None


def test_a_certificate_is_not_written_where_the_folder_was(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "state")
    certificate = machine.certificate()
    machine.state.path.rename(tmp_path / "away")
    machine.addresses = ["10.0.0.4"]
    with pytest.raises(StateUnusable, match="is its disk mounted"):
        certificate.renew()
    assert not machine.state.path.exists()
