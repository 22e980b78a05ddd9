"""The certificate that the server shows: of its own authority, or one that it was given."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from cryptography import x509

from split_server.pairing.errors import CertificateUnusable, StateUnusable
from split_server.pairing.local_ca import LocalAuthority, lan_address, local_name
from split_server.pairing.lock import held
from split_server.pairing.state import StateFolder

CERTIFICATE, KEY = "server.pem", "server.key"
_RENEW_WITHIN = datetime.timedelta(days=30)
_ALWAYS = ("127.0.0.1", "::1")


def utc_now() -> datetime.datetime:
    """The time that certificates are judged by."""
    return datetime.datetime.now(datetime.UTC)


def given_certificate(certificate: Path, key: Path, now: datetime.datetime) -> ssl.SSLContext:
    """TLS with a certificate chain and key of the operator's, valid at ``now``.

    Raises CertificateUnusable.
    """
    context = _context()
    try:
        context.load_cert_chain(certificate, key, _no_passphrase)
        leaf = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CertificateUnusable(f"{certificate} with {key}: {reason}; give PEM files") from error
    _require_valid(certificate, leaf, now)
    return context


def _no_passphrase() -> str:
    """A server that starts by itself has nobody to ask. Raises ValueError."""
    raise ValueError("the key is encrypted, and nobody is asked for its passphrase")


def _require_valid(file: Path, leaf: x509.Certificate, now: datetime.datetime) -> None:
    first, last = leaf.not_valid_before_utc, leaf.not_valid_after_utc
    if now > last:
        raise CertificateUnusable(
            f"{file} expired on {last:%Y-%m-%d %H:%M} UTC, and devices refuse it; renew it, or "
            "leave --tls-cert out"
        )
    if now < first:
        raise CertificateUnusable(
            f"{file} is valid from {first:%Y-%m-%d %H:%M} UTC on and not yet; wait, or set this "
            "machine's clock"
        )


def certificate_files(replica: str | None = None) -> tuple[str, str]:
    """Names of the files of certificate and key, which each of several servers has of its own."""
    if replica is None:
        return CERTIFICATE, KEY
    return f"server-{replica}.pem", f"server-{replica}.key"


def vouched_for(state: StateFolder, host: str, replicas: Sequence[str | None] = (None,)) -> bool:
    """Whether a certificate of the local authority that was issued last, to any of ``replicas``, is
    for ``host``.

    True where none was issued. Raises StateUnusable.
    """
    found = [state.read(certificate_files(replica)[0]) for replica in replicas]
    issued = [data for data in found if data is not None]
    return not issued or any(_is_for(data, host) for data in issued)


def _is_for(certificate: bytes, host: str) -> bool:
    try:
        names, addresses = _subjects(x509.load_pem_x509_certificate(certificate))
    except (ValueError, x509.ExtensionNotFound):
        return False
    if _is_ip(host):
        return ipaddress.ip_address(host.partition("%")[0]) in addresses
    return host.lower() in names


class LanCertificate:
    """Keeps a certificate of ``authority`` for the machine's names and addresses.

    ``names``: DNS names and addresses beside ``localhost`` under which it is reached, a relay's for
    example; ``addresses`` tells the machine's present ones. Those outside the local network are
    left out, since the authority may not sign for them. ``replica``: what this one of several
    servers is called that share ``state``.
    """

    def __init__(
        self,
        authority: LocalAuthority,
        state: StateFolder,
        names: Sequence[str],
        addresses: Callable[[], Sequence[str]],
        now: Callable[[], datetime.datetime] = utc_now,
        replica: str | None = None,
    ) -> None:
        self.authority = authority
        self._state = state
        self._certificate, self._key = certificate_files(replica)
        self._names = sorted({"localhost", *(n for n in names if not _is_ip(n) and local_name(n))})
        self._fixed = [*_ALWAYS, *filter(_is_ip, names)]
        self._addresses = addresses
        self._now = now
        self.context = _context()
        self._loaded = False
        self.renew()

    def renew(self) -> bool:
        """Issue and load another one where the present one lacks an address or runs out soon.

        Connections that are open keep theirs. Raises StateUnusable.
        """
        # A disk that is not there must not be written to in its place.
        self._state.require_there()
        if self._is_good():
            return False
        with held(self._state, self._certificate):
            # Another process of this name may have been faster.
            return not self._is_good() and self._issue()

    def _is_good(self) -> bool:
        return self._current_covers(self._wanted()) and (self._loaded or self._load())

    def _issue(self) -> bool:
        issued = self.authority.issue(self._names, self._wanted(), self._now())
        self._state.write(self._key, issued.key)
        self._state.write(self._certificate, issued.certificate)
        if not self._load():
            raise StateUnusable(self._state.file(self._certificate), "it cannot be read back")
        return True

    def _wanted(self) -> list[str]:
        every = [*self._fixed, *filter(_is_ip, self._addresses())]
        return sorted({a.partition("%")[0] for a in every if lan_address(a.partition("%")[0])})

    def _current_covers(self, addresses: Sequence[str]) -> bool:
        current = self._current()
        if current is None or not self.authority.signed(current):
            return False
        if current.not_valid_after_utc - self._now() < _RENEW_WITHIN:
            return False
        names, known = _subjects(current)
        wanted = {ipaddress.ip_address(address) for address in addresses}
        return wanted <= known and set(self._names) <= names

    def _current(self) -> x509.Certificate | None:
        data = self._state.read(self._certificate)
        if data is None or self._state.read(self._key) is None:
            return None
        try:
            return x509.load_pem_x509_certificate(data)
        except ValueError:
            return None

    def _load(self) -> bool:
        """False where certificate and key do not fit, as after a crash between the two files."""
        try:
            files = (self._state.file(self._certificate), self._state.file(self._key))
            self.context.load_cert_chain(*files)
        except OSError:
            return False
        self._loaded = True
        return True


def _subjects(certificate: x509.Certificate) -> tuple[set[str], set[object]]:
    """The DNS names and the IP addresses that it is for."""
    subjects = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return (
        set(subjects.get_values_for_type(x509.DNSName)),
        set(subjects.get_values_for_type(x509.IPAddress)),
    )


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return True


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
