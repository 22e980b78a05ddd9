"""A certificate authority of this server's own, for names and addresses on a LAN.

Made once and kept in the state folder. A device that trusts it trusts it for the local network
alone: its name constraints (RFC 5280, 4.2.1.10) permit private addresses, loopback, and names that
the public DNS does not have or that the operator named.
"""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from split_server.pairing.errors import StateUnusable
from split_server.pairing.lock import held
from split_server.pairing.state import StateFolder
from split_server.security.networks import LOCAL_NETWORKS, is_local

CERTIFICATE, KEY = "ca.pem", "ca.key"
_CA_DAYS = 3650
# Phones refuse certificates that are valid for longer (825 days, and less for public ones).
LEAF_DAYS = 397
_BACKDATED = datetime.timedelta(hours=24)
_LOCAL_NAMES = ("localhost", "local", "lan", "home.arpa", "internal")


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate with its key, both PEM."""

    certificate: bytes
    key: bytes


class LocalAuthority:
    """Signs certificates of this server; ``extra`` are permitted beside local names."""

    def __init__(self, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self._certificate = certificate
        self._key = key

    @classmethod
    def open(cls, state: StateFolder, now: datetime.datetime) -> LocalAuthority:
        """The authority of ``state``, made on the first call, whoever else makes one at the same
        time. Raises StateUnusable.
        """
        found = cls._found(state)
        if found is not None:
            return found
        with held(state, CERTIFICATE):
            return cls._found(state) or cls._made(state, now)

    @classmethod
    def _found(cls, state: StateFolder) -> LocalAuthority | None:
        """None where it is not whole yet. Raises StateUnusable."""
        certificate, key = state.read(CERTIFICATE), state.read(KEY)
        if certificate is None or key is None:
            return None
        return cls._read(state, certificate, key)

    @classmethod
    def _made(cls, state: StateFolder, now: datetime.datetime) -> LocalAuthority:
        """A new one, while nobody else makes one. Raises StateUnusable."""
        made = cls._make(now)
        for name in (KEY, CERTIFICATE):
            if state.read(name) is not None:
                # A start that was cut between the two files leaves a key that signed nothing.
                state.remove(name)
        try:
            # The key first: a certificate without one would look like a whole authority.
            state.write(KEY, made._key_pem(), replace=False)
        except FileExistsError:
            # The client of a network remembers for a while that there was none.
            found = cls._found(state)
            if found is None:
                raise StateUnusable(state.file(KEY), "another server makes it; try again") from None
            return found
        state.write(CERTIFICATE, made.pem)
        return made

    @classmethod
    def _read(cls, state: StateFolder, certificate: bytes, key: bytes) -> LocalAuthority:
        try:
            read = x509.load_pem_x509_certificate(certificate)
            private = serialization.load_pem_private_key(key, None)
        except (ValueError, TypeError) as error:
            raise StateUnusable(state.file(CERTIFICATE), "it or its key is damaged") from error
        if not isinstance(private, ec.EllipticCurvePrivateKey) or (
            private.public_key() != read.public_key()
        ):
            raise StateUnusable(state.file(KEY), "it is not the key of the certificate beside it")
        return cls(read, private)

    @classmethod
    def _make(cls, now: datetime.datetime) -> LocalAuthority:
        key = ec.generate_private_key(ec.SECP256R1())
        mark = hashlib.sha256(_public_bytes(key.public_key())).hexdigest()[:8]
        name = _name(f"Gatelink local CA {mark}")
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        certificate = (
            _dated(x509.CertificateBuilder(), now, _CA_DAYS)
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(sign_certificates=True), critical=True)
            .add_extension(x509.NameConstraints(_permitted(), None), critical=True)
            .add_extension(identifier, critical=False)
            .sign(key, hashes.SHA256())
        )
        return cls(certificate, key)

    @property
    def pem(self) -> bytes:
        """The certificate that devices are to trust."""
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def der(self) -> bytes:
        """The same as DER, which phones install."""
        return self._certificate.public_bytes(serialization.Encoding.DER)

    @property
    def fingerprint(self) -> bytes:
        """SHA-256 of the certificate's DER."""
        return hashlib.sha256(self.der).digest()

    def signed(self, certificate: x509.Certificate) -> bool:
        """Whether this authority issued ``certificate``."""
        try:
            certificate.verify_directly_issued_by(self._certificate)
        except Exception:  # noqa: BLE001 - the library has no common base for what is wrong
            return False
        return True

    def issue(
        self, names: Sequence[str], addresses: Sequence[str], now: datetime.datetime
    ) -> Issued:
        """A fresh key and a certificate for DNS ``names`` and IP ``addresses``."""
        key = ec.generate_private_key(ec.SECP256R1())
        subjects: list[x509.GeneralName] = [x509.DNSName(name) for name in names]
        subjects += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = (
            _dated(x509.CertificateBuilder(), now, LEAF_DAYS)
            .subject_name(_name("Gatelink server"))
            .issuer_name(self._certificate.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(sign_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName(subjects), critical=False)
            .add_extension(authority, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return Issued(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))

    def _key_pem(self) -> bytes:
        return _pem(self._key)


def local_name(name: str) -> bool:
    """Whether the authority may sign for DNS ``name``."""
    labels = name.lower().rstrip(".").split(".")
    return any(labels[-len(suffix.split(".")) :] == suffix.split(".") for suffix in _LOCAL_NAMES)


def lan_address(address: str) -> bool:
    """Whether the authority may sign for IP ``address``."""
    return is_local(address)


def _permitted() -> list[x509.GeneralName]:
    networks: list[x509.GeneralName] = [
        x509.IPAddress(ipaddress.ip_network(network)) for network in LOCAL_NETWORKS
    ]
    return [*networks, *(x509.DNSName(name) for name in _LOCAL_NAMES)]


def _dated(
    builder: x509.CertificateBuilder, now: datetime.datetime, days: int
) -> x509.CertificateBuilder:
    """Valid from a day ago, because the clocks of devices differ."""
    return builder.not_valid_before(now - _BACKDATED).not_valid_after(
        now - _BACKDATED + datetime.timedelta(days=days)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _usage(*, sign_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not sign_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=sign_certificates,
        crl_sign=sign_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _public_bytes(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
