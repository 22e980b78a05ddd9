"""Proxies that the environment names."""

from __future__ import annotations

import urllib.request

from split_client.transport.endpoint import Endpoint


def has_proxy(endpoint: Endpoint) -> bool:
    """Whether the environment names an HTTP proxy for ``endpoint``."""
    if endpoint.is_loopback or urllib.request.proxy_bypass(endpoint.host):
        return False
    proxies = urllib.request.getproxies()
    return any(name in proxies for name in ("https" if endpoint.secure else "http", "all"))
