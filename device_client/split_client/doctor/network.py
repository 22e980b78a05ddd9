"""URL, name and port: whether there is a way to the server at all."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import urllib.request

from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, ok, problem, warning
from split_client.transport.connect import has_proxy
from split_client.transport.endpoint import Endpoint, UrlInvalid

_MOST_ADDRESSES = 4
_NO_ROUTE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL)


def check_url(case: Case) -> Finding:
    """Whether the URL can be read, and whether a proxy of the environment stands before it."""
    try:
        case.endpoint = Endpoint.parse(case.url)
    except UrlInvalid as error:
        return problem("url", "url_invalid", str(error), "give it as --url or SPLIT_CLIENT_URL")
    case.proxy = _proxy(case.endpoint)
    if case.proxy is None:
        return ok("url", case.endpoint.url)
    try:
        Endpoint.parse(case.proxy)
    except UrlInvalid:
        return problem(
            "url",
            "proxy_invalid",
            "the environment names a proxy that is not an address of HTTP",
            "correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or add the server to NO_PROXY",
        )
    return ok(
        "url", f"{case.endpoint.url}, through the proxy {_shown(case.proxy)} of the environment"
    )


def check_dns(case: Case) -> Finding:
    """Whether the host has addresses."""
    host = case.reached.host
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(host)
        case.addresses = [host]
        return ok("dns", f"{host} is an address, nothing to look up")
    try:
        found = socket.getaddrinfo(host, case.reached.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        return _unknown_host(host, error)
    case.addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))[:_MOST_ADDRESSES]
    return ok("dns", f"{host} is {', '.join(case.addresses)}")


def check_tcp(case: Case) -> Finding:
    """Whether something accepts connections at one of the addresses."""
    failures: list[tuple[str, OSError]] = []
    for address in case.addresses:
        try:
            socket.create_connection((address, case.reached.port), _share(case)).close()
        except OSError as error:
            failures.append((address, error))
        else:
            return _connected(case, address, [failed for failed, _ in failures])
    return _unreached(case, failures[0][1] if failures else OSError("no address"))


def _proxy(endpoint: Endpoint) -> str | None:
    if not has_proxy(endpoint):
        return None
    proxies = urllib.request.getproxies()
    named = proxies.get("https" if endpoint.secure else "http") or proxies.get("all") or ""
    scheme, _, rest = named.rpartition("://")
    # A name and a password may stand before the host; they are not for the screen.
    return f"{scheme or 'http'}://{rest.rpartition('@')[2]}"


def _shown(proxy: str) -> str:
    return proxy.rpartition("://")[2].rstrip("/")


def _share(case: Case) -> float:
    return case.limits.connect / max(1, len(case.addresses))


def _unknown_host(host: str, error: Exception) -> Finding:
    if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
        return problem(
            "dns",
            "dns_unavailable",
            f"no name server answers, so {host} cannot be looked up",
            "check this machine's network, or use the server's IP address",
        )
    return problem(
        "dns",
        "unknown_host",
        f"no machine is called {host}",
        "check the spelling, the network and the VPN, or use the server's IP address",
    )


def _connected(case: Case, address: str, failed: list[str]) -> Finding:
    port = case.reached.port
    if failed:
        return warning(
            "tcp",
            "address_dead",
            f"{address} accepts connections on port {port}, {', '.join(failed)} does not",
            "every new connection waits for the dead address first: correct the name's entries, "
            f"or use {address} in the URL",
        )
    return ok("tcp", f"{address} accepts connections on port {port}")


def _unreached(case: Case, error: OSError) -> Finding:
    where = f"port {case.reached.port} of {case.reached.host}"
    if isinstance(error, ConnectionRefusedError):
        return problem(
            "tcp",
            "nothing_listens",
            f"nothing listens on {where}",
            "start split-server there, or correct the port; a server that listens on 127.0.0.1 "
            "is reached from its own machine only (split-relay or --host opens it)",
        )
    if isinstance(error, TimeoutError):
        return problem(
            "tcp",
            "no_answer",
            f"no answer from {where} within {case.limits.connect:g} s",
            "the machine is off, the address is wrong, or a firewall drops the connection",
        )
    if error.errno in _NO_ROUTE:
        return problem(
            "tcp",
            "no_route",
            f"no way leads to {case.reached.host}: {error.strerror}",
            "check this machine's network and the VPN",
        )
    reason = error.strerror or str(error)
    return problem("tcp", "not_connected", f"no connection to {where}: {reason}", "try again")
