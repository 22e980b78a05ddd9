"""Which of a server's models a chat is with, and which one a saved chat was with."""

from __future__ import annotations

from collections.abc import Sequence

from split_client.api import ServedModel, SplitClient
from split_client.saved_chats.document import SavedConversation
from split_client.terminal.output.sanitise import one_line


def model_words(client: SplitClient) -> str:
    """The maker's name of a client's model, and the server's where it was asked for by that."""
    name = one_line(client.manifest.name)
    return name if client.model in (None, name) else f"{name}, served as {client.model}"


def is_here(client: SplitClient, model: ServedModel) -> bool:
    """Whether ``model`` is the one that ``client`` is with."""
    return model.first if client.model is None else model.name == client.model


def model_of(saved: SavedConversation, models: Sequence[ServedModel]) -> ServedModel | None:
    """That of a saved chat: the same ends, of the same name if there are several with them; else
    the one of that name, which may have been replaced by a newer one.
    """
    same = [one for one in models if saved.manifest and one.manifest == saved.manifest]
    named = [one for one in models if saved.served and one.name == saved.served]
    both = [one for one in same if one in named]
    return next(iter((*both, *same, *named)), None)


def gone_line(saved: SavedConversation, models: Sequence[ServedModel], here: str) -> str:
    """A saved chat's model that the server does not have."""
    was = one_line(saved.served or saved.model or "another model")
    names = ", ".join(model.name for model in models[:20])
    return (
        f"the chat was with {was}, which this server has no more (it has {names}); {here} goes on"
    )
