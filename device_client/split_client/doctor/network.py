"""URL, name and port: whether there is a way to the server at all."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import urllib.request

from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, caused, ok, problem, warning
from split_client.transport.endpoint import Endpoint, ModelNameInvalid, UrlInvalid
from split_client.transport.proxies import has_proxy
from split_client.transport.reach.diagnosis import of_network

_MOST_ADDRESSES = 4


def check_url(case: Case) -> Finding:
    """Whether the URL can be read, and whether a proxy of the environment stands before it."""
    try:
        case.endpoint = Endpoint.parse(case.url).of_model(case.named)
    except UrlInvalid as error:
        return problem("url", "url_invalid", str(error), "give it as --url or SPLIT_CLIENT_URL")
    except ModelNameInvalid as error:
        return problem("url", error.code, str(error), "give it as --model or SPLIT_CLIENT_MODEL")
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
        return caused("dns", of_network(case.reached, error, case.limits.connect))
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
    failed = failures[0][1] if failures else OSError("no address")
    return caused("tcp", of_network(case.reached, failed, case.limits.connect))


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
