"""Names that a shell may complete: of stored models, of saved chats."""

from __future__ import annotations

from split_client.config.chat import ChatConfig
from split_client.saved_chats.folder import ChatFolder
from split_client.weights.store import ModelStore

_MOST = 1000


def known_names(config: ChatConfig, what: str) -> list[str]:
    """Names of ``what`` ("models" or "chats") on this device, at most 1,000.

    Raises StoreFailed, ChatsFolderFailed.
    """
    if what == "models":
        names = [model.manifest.name for model in ModelStore(config.cache).list()]
    else:
        names = [file.name for file in ChatFolder(config.chats).files()]
    return names[:_MOST]
