"""The way of one chat program to a server, and from one of its models to another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from split_client.adapters.chooser import AUTO
from split_client.api import ServedModel, SplitClient
from split_client.config.chat import ChatConfig
from split_client.errors import ClientError
from split_client.saved_chats.document import SavedConversation
from split_client.terminal.connect import connect, let_in
from split_client.terminal.output.screen import Screen
from split_client.terminal.pair import own_token
from split_client.terminal.switching.chosen import model_of
from split_client.transport.endpoint import Endpoint
from split_client.transport.served.listing import fetch_served
from split_client.weights.store import ModelStore, StoredModel


@dataclass(slots=True)
class Way:
    """``chosen``: the model was named for this very chat, so a saved one does not choose another;
    ``next``: the client of the model that the chat is about to go on with.
    """

    config: ChatConfig
    screen: Screen
    chosen: bool = False
    next: SplitClient | None = None
    _token: str | None = field(default=None, repr=False)
    connect: Callable[[ChatConfig, str | None, Screen], SplitClient] = connect

    def open(self, saved: SavedConversation | None = None) -> SplitClient:
        """A client of the model that is asked for, or of that of a ``saved`` chat; a token is asked
        for where one is needed. Raises what connecting raises.
        """
        config = self.config
        if saved is not None and not self.chosen:
            config = replace(config, model=self._model_of(saved))

        def attempt(token: str | None) -> SplitClient:
            self._token = token
            return self.connect(config, token, self.screen)

        return let_in(config, self.screen, attempt)

    def begin(self, name: str) -> None:
        """Have ``next`` be a client of the model ``name`` of the same server; the one so far is
        not touched. Raises what connecting raises.
        """
        # A name is that of one model's adapter; auto is that of none.
        adapter = self.config.adapter if self.config.adapter == AUTO else None
        config = replace(self.config, model=name, adapter=adapter)
        self.next = self.connect(config, self._token, self.screen)

    def close(self) -> None:
        """Nobody takes ``next`` any more."""
        if (left := self.take()) is not None:
            left.close()

    def take(self) -> SplitClient | None:
        """``next``, once."""
        client, self.next = self.next, None
        return client

    def stored(self) -> list[StoredModel]:
        """The models that this device holds. Raises StoreFailed."""
        return ModelStore(self.config.cache).list()

    def _model_of(self, saved: SavedConversation) -> str | None:
        """The model to begin with for a chat, before anything is downloaded."""
        if not saved.served and not saved.manifest:
            return self.config.model
        try:
            endpoint = Endpoint.parse(self.config.url)
            models = fetch_served(endpoint, own_token(self.config.token, self.config.url).text)
        # Connecting says it better, and the chat looks again when it is loaded.
        except ClientError:
            return self.config.model
        found = model_of(saved, models or ())
        return self.config.model if found is None else _asked_for(found, self.config)


def _asked_for(found: ServedModel, config: ChatConfig) -> str | None:
    """None at the root, where the first is."""
    return None if found.first and Endpoint.parse(config.url).model is None else found.name
