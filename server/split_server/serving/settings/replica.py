"""A server that is one of several behind one address: its settings, and what it has to be."""

from __future__ import annotations

from split_server.security.access import AccessPolicy, ConflictingAccess
from split_server.security.authority import parse_origin
from split_server.serving.listen_config import ACCESS, NETWORK, ListenConfig
from split_settings import option, settings
from split_wire.fields import is_name


def _name(text: str) -> str:
    if not is_name(text):
        raise ValueError(
            f"{text!r} is no name of a replica; write 1 to 64 letters, digits or ._- and no dot "
            "first, like server-1"
        )
    return text


def _url(text: str) -> str:
    origin = parse_origin(text.strip().rstrip("/"))
    if origin is None or origin.scheme not in ("http", "https"):
        raise ValueError(f"{text!r} is no address; write it like https://chat.example.org")
    return str(origin)


@settings("server", slots=False)
class ReplicaConfig(ListenConfig):
    """A base of the settings of the server of a model."""

    replica: str | None = option(
        None,
        help="what this server is called among several behind one address, which devices are told; "
        "it asks everybody for a token, and shares --state with the others",
        metavar="NAME",
        parse=_name,
        group=ACCESS,
    )
    public_url: str | None = option(
        None,
        help="address under which devices find this server, a balancer's or relay's for example: "
        "what 'split-server pair' tells, and a host and origin that are let in",
        metavar="URL",
        parse=_url,
        group=NETWORK,
    )

    @property
    def hosts(self) -> tuple[str, ...]:
        """With that of the public address."""
        origin = None if self.public_url is None else parse_origin(self.public_url)
        return self.allow_host if origin is None else (*self.allow_host, origin.host)

    @property
    def origins(self) -> tuple[str, ...]:
        """With that of the public address."""
        return (
            self.allow_origin if self.public_url is None else (*self.allow_origin, self.public_url)
        )


def require_replica(config: ReplicaConfig, policy: AccessPolicy, *, adapter_host: bool) -> None:
    """Raise ConflictingAccess where ``config`` names a replica that may not be one;
    ``adapter_host``: it has one mounted.
    """
    if config.replica is None:
        return
    if adapter_host:
        raise ConflictingAccess(
            "--adapter-host contradicts --replica: each replica would count the queries of its own "
            "budget; run split-server adapters as a host of its own, or leave one of them out"
        )
    if policy.tokens is None:
        raise ConflictingAccess(
            "--replica asks everybody for a token: behind a balancer everybody comes from its "
            "address; give tokens, or leave --replica out"
        )
