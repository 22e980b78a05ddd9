"""Errors of servers that have one model, whatever is asked of them."""

from __future__ import annotations

from split_client.errors import ClientError


class ModelsNotListed(ClientError):
    """A model was asked for by name at a server that knows no names of models."""

    code = "models_not_listed"

    def __init__(self, url: str) -> None:
        super().__init__(
            f"{url} serves one model and knows no names of models; leave --model out (or "
            "SPLIT_CLIENT_MODEL), or update that server"
        )
