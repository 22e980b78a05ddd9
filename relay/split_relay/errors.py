"""Errors of the relay.

::

    RelayError
    ├── BadAddress             text that is not HOST:PORT
    ├── ListenFailed           the listening address cannot be bound
    ├── UpstreamIsRelay        the upstream address is the listening address
    ├── TooManyConnections     a limit, in total or of one address
    ├── UpstreamUnavailable    nothing accepts connections there in time
    └── UpstreamUnprotected    it answers strangers, and the relay would let them in

Each has a stable ``code``, and says whether trying again later can help (``retryable``).
"""

from __future__ import annotations

from typing import ClassVar


class RelayError(Exception):
    """Base of all errors of this package."""

    code: ClassVar[str] = "relay_error"
    retryable: ClassVar[bool] = False

    @property
    def public(self) -> str:
        """The message for strangers: it names nothing behind the relay."""
        return str(self)


class BadAddress(RelayError, ValueError):
    """Text that is not ``HOST:PORT``."""

    code = "bad_address"

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{text!r} is not an address: {reason}")
        self.text = text
        self.reason = reason


class ListenFailed(RelayError):
    """The operating system refuses the listening address."""

    code = "listen_failed"

    def __init__(self, address: object, reason: str) -> None:
        super().__init__(f"cannot listen on {address}: {reason}; choose another --listen")
        self.address = address
        self.reason = reason


class UpstreamIsRelay(RelayError):
    """The upstream address leads back to the relay; one connection would become endlessly many."""

    code = "upstream_is_relay"

    def __init__(self, upstream: object) -> None:
        super().__init__(
            f"--upstream {upstream} is where this relay listens; name the server's port"
        )
        self.upstream = upstream


class TooManyConnections(RelayError):
    """A limit on open connections is reached."""

    code = "too_many_connections"
    retryable = True

    def __init__(self, limit: int, *, per_address: bool) -> None:
        whose = "from your address" if per_address else "through this relay"
        super().__init__(f"there are already {limit} connections {whose}; try again later")
        self.limit = limit
        self.per_address = per_address


class UpstreamUnavailable(RelayError):
    """Nothing at the upstream address accepts connections in time."""

    code = "upstream_unavailable"
    retryable = True

    def __init__(self, upstream: object, seconds: float, reason: str) -> None:
        super().__init__(
            f"the server at {upstream} did not answer within {seconds:g} s: {reason}; check that "
            "it runs, and that --upstream names it"
        )
        self.upstream = upstream
        self.seconds = seconds
        self.reason = reason

    @property
    def public(self) -> str:
        return "the server behind this relay does not answer; try again in a moment"


class UpstreamUnprotected(RelayError):
    """The upstream answers a request without a token.

    A server on loopback trusts its own machine; relaying it as it is would make everybody on the
    network that machine.
    """

    code = "upstream_unprotected"

    def __init__(self, upstream: object, found: str) -> None:
        super().__init__(
            f"the server at {upstream} does not ask for a token (an unauthenticated request got "
            f"{found}, not 401 with a split-server's challenge), so everybody who reaches this "
            "relay could use it. Start the server with a token, listen on 127.0.0.1, or say --open "
            "if that is what you want"
        )
        self.upstream = upstream
        self.found = found

    @property
    def public(self) -> str:
        return "the server behind this relay does not ask for a token, so nobody is let through"
