"""Pairing: pin the server's authority by its fingerprint, then trade the code for a token."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Callable

import httpx

from split_client.errors import ServerUnreachable
from split_client.pairing.errors import FingerprintNotConfirmed, PairingFailed, WrongAuthority
from split_client.pairing.link import PairingLink
from split_client.transport.endpoint import Endpoint
from split_client.transport.http import UNREACHED
from split_client.transport.known import KnownServer, KnownServers
from split_client.transport.reach.diagnosis import misunderstood, unreachable
from split_client.transport.refusal import read_refusal
from split_client.transport.timed import exchange_once
from split_client.transport.tls import pinned_context, unverified_context

_MAX_ANSWER = 64 * 1024
_SECONDS = 15.0
_NOT_FOUND = 404
# A server without pairing has no such resource, or asks for a token before it says so.
_PAIRS_NOBODY = frozenset({"not_found", "method_not_allowed", "unauthorized"})
_NOT_HERE = (
    "this server pairs no devices (HTTP status {status}); use a token of it with --token, or have "
    "it started with --tls on, without which tokens would travel in the clear"
)


def pair(
    link: PairingLink,
    name: str,
    servers: KnownServers,
    confirm: Callable[[bytes], bool] = lambda _: False,
) -> KnownServer:
    """Pair this device as ``name`` and remember the server.

    ``confirm`` is asked about the authority's fingerprint where the link has none. Raises
    WrongAuthority, FingerprintNotConfirmed, PairingFailed, ServerRefused, ServerUnreachable,
    KnownServersDamaged.
    """
    # Whatever is wrong with the file must show before a code is used up.
    servers.all()
    ca = _authority(link, confirm) if link.endpoint.secure else None
    token, identity, called = _redeem(link, name, ca)
    servers.remember(link.endpoint, token, ca, called, identity)
    known = servers.find(link.endpoint)
    if known is None:
        raise PairingFailed("the paired server could not be remembered; pair again")
    return known


def _authority(link: PairingLink, confirm: Callable[[bytes], bool]) -> str | None:
    """PEM of the authority to pin; None where the system's believe what answers there, as where a
    balancer shows a certificate of its own.
    """
    if link.fingerprint is None and _believed(link.endpoint):
        return None
    status, der = _request(link.endpoint, unverified_context(), "GET", "/ca.crt")
    if status == _NOT_FOUND and link.fingerprint is None:
        return None
    if status != httpx.codes.OK:
        raise read_refusal(der, None) or PairingFailed(f"HTTP status {status}: try again later")
    found = hashlib.sha256(der).digest()
    if link.fingerprint is not None and found != link.fingerprint:
        raise WrongAuthority
    if link.fingerprint is None and not confirm(found):
        raise FingerprintNotConfirmed
    try:
        return ssl.DER_cert_to_PEM_cert(der)
    except ValueError as error:
        raise WrongAuthority from error


def _believed(endpoint: Endpoint) -> bool:
    """Whether the system's authorities vouch for it; False where it cannot be asked."""
    try:
        _exchanged(endpoint, ssl.create_default_context(), "HEAD", "/ca.crt")
    except (*UNREACHED, httpx.HTTPError, PairingFailed):
        return False
    return True


def _redeem(link: PairingLink, name: str, ca: str | None) -> tuple[str, str, str]:
    """Token, id and name. The connection is verified, so the code reaches the server alone."""
    try:
        context = ssl.create_default_context() if ca is None else pinned_context(ca)
    except (ssl.SSLError, ValueError) as error:
        raise WrongAuthority from error
    # A lone surrogate (from an argument that is not UTF-8) has no form in JSON that is sent.
    body = {"code": link.code, "name": name.encode("utf-8", "replace").decode("utf-8")}
    status, data = _request(link.endpoint, context, "POST", "/api/v1/pair", body)
    if status != httpx.codes.OK:
        refused = read_refusal(data, None)
        if refused is None or refused.code in _PAIRS_NOBODY:
            raise PairingFailed(_NOT_HERE.format(status=status))
        raise refused
    try:
        answer = httpx.Response(status, content=data).json()
        return _text(answer, "token"), _text(answer, "id"), _text(answer, "name")
    except (ValueError, KeyError, TypeError) as error:
        raise PairingFailed("the server's answer is not one to a pairing") from error


def _text(answer: dict[str, object], key: str) -> str:
    value = answer[key]
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError(key)
    return value


def _request(
    endpoint: Endpoint,
    context: ssl.SSLContext,
    method: str,
    path: str,
    body: dict[str, str] | None = None,
) -> tuple[int, bytes]:
    try:
        return _exchanged(endpoint, context, method, path, body)
    except UNREACHED as error:
        raise unreachable(endpoint, error, _SECONDS, probe=True) from error
    except httpx.HTTPError as error:
        reason = str(error) or type(error).__name__
        found = misunderstood(endpoint) or ServerUnreachable(endpoint.authority, reason)
        raise found from error


def _exchanged(
    endpoint: Endpoint,
    context: ssl.SSLContext,
    method: str,
    path: str,
    body: dict[str, str] | None = None,
) -> tuple[int, bytes]:
    """Raises the errors of httpx, PairingFailed."""
    client = httpx.Client(verify=context, timeout=_SECONDS, trust_env=not endpoint.is_loopback)
    request = client.build_request(method, endpoint.url + path, json=body)
    with exchange_once(client, request, _SECONDS) as response:
        data = bytearray()
        for part in response.iter_raw():
            data += part
            if len(data) > _MAX_ANSWER:
                raise PairingFailed("the server's answer is longer than any to a pairing")
        return response.status_code, bytes(data)
