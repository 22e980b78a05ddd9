"""Names that a shell may complete: of stored models, of saved chats."""

from __future__ import annotations

from split_client.config.chat import ChatConfig
from split_client.errors import ClientError
from split_client.saved_chats.folder import ChatFolder
from split_client.terminal.pair import paired_token
from split_client.transport.endpoint import Endpoint
from split_client.transport.served.listing import fetch_served
from split_client.weights.store import ModelStore

_MOST = 1000
# Seconds that somebody waits at a Tab key.
_CONNECT = 1.0


def known_names(config: ChatConfig, what: str) -> list[str]:
    """Names of ``what``, at most 1,000: "models" or "chats" on this device, or those that are
    "served" where a chat would go, none where that does not answer at once.

    Raises StoreFailed, ChatsFolderFailed.
    """
    if what == "served":
        return _served(config)
    if what == "models":
        names = [model.manifest.name for model in ModelStore(config.cache).list()]
    else:
        names = [file.name for file in ChatFolder(config.chats).files()]
    return names[:_MOST]


def _served(config: ChatConfig) -> list[str]:
    try:
        token = config.token or paired_token(config.url)
        models = fetch_served(Endpoint.parse(config.url), token, _CONNECT) or ()
    except ClientError:
        return []
    return [model.name for model in models][:_MOST]
