"""What is not served here, or not to whoever asks."""

from __future__ import annotations

from collections.abc import Sequence

from split_wire.errors.base import SplitError

_MOST_NAMED = 16


class UnknownAdapter(SplitError):
    """An adapter name that the server does not serve."""

    code = "unknown_adapter"
    status = 404

    def __init__(self, name: str) -> None:
        super().__init__(f"no adapter {name[:40]!r} here; leave the adapter out for the base model")


class UnknownModel(SplitError):
    """A model name that the server does not serve; ``there``: those that it does."""

    code = "unknown_model"
    status = 404

    def __init__(self, name: str, there: Sequence[str]) -> None:
        known = ", ".join(there[:_MOST_NAMED]) + (", ..." if len(there) > _MOST_NAMED else "")
        super().__init__(f"model {name[:64]!r} not found; served here: {known}")


class OperatorNeeded(SplitError):
    """What is the operator's to do, or concerns others too."""

    code = "operator_needed"
    status = 403

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} needs a token that is marked 'operator' in the server's tokens file"
        )


class UnknownCacheGroup(SplitError):
    """A group that the server does not have, or whose member the principal is not."""

    code = "unknown_cache_group"
    status = 404

    def __init__(self, name: str) -> None:
        super().__init__(
            f"no cache group {name[:40]!r} of yours here; leave cache_group out, or have the "
            "operator name you in kv-groups"
        )


class UnknownCache(SplitError):
    """What a device asks for of the cache, and there is none of that kind."""

    code = "unknown_cache"

    def __init__(self, asked: str) -> None:
        super().__init__(
            f"'cache' may be 'exact', 'int8', 'approximate' or 'off', and not {asked[:40]!r}; "
            "leave it out for exact"
        )


class Unsupported(SplitError):
    """A capability that this server did not announce."""

    code = "unsupported"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is not supported by this server; see the capabilities it announced"
        )


class Unauthorized(SplitError):
    """A missing or wrong bearer token."""

    code = "unauthorized"
    status = 401

    def __init__(self) -> None:
        super().__init__("a valid token is needed: send it as 'Authorization: Bearer TOKEN'")


class ForbiddenOrigin(SplitError):
    """A browser page of another origin that is not allowed."""

    code = "forbidden_origin"
    status = 403

    def __init__(self) -> None:
        super().__init__("this origin is not allowed; start the server with --allow-origin URL")


class ForbiddenHost(SplitError):
    """A Host header that names neither this machine nor a configured name (DNS rebinding)."""

    code = "forbidden_host"
    status = 403

    def __init__(self) -> None:
        super().__init__(
            "this Host is not served here; start the server with --allow-host NAME, in a container "
            "with SPLIT_SERVER_ALLOW_HOST=NAME"
        )


class TokenizeDisabled(SplitError):
    """Server-side tokenizing is off, because it shows the server the text."""

    code = "tokenize_disabled"
    status = 403

    def __init__(self) -> None:
        super().__init__(
            "tokenizing on the server shows it the text and is off; tokenize on the device, "
            "or start the server with --allow-server-tokenize"
        )


class NotFound(SplitError):
    """No such resource."""

    code = "not_found"
    status = 404

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not served here")
