"""``/model``: which of the server's models the chat is with, and going on with another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from split_client.api import ServedModel, SplitClient
from split_client.errors import ClientError, ModelNotServed
from split_client.saved_chats.document import SavedConversation
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.switching.chosen import gone_line, is_here, model_of, model_words
from split_client.terminal.switching.listed import listed, model_line
from split_client.terminal.switching.way import Way
from split_client.transport.served.errors import ModelsNotListed


@dataclass(slots=True)
class Models:
    """``way`` leads to other models; ``known``: names as they were listed last, for completion."""

    client: SplitClient
    screen: Screen
    way: Way | None = None
    known: tuple[str, ...] = ()

    def group(self) -> Group:
        what = "which models the server has; NAME: go on with that one"
        return Group("Models", (Command(("model",), "model [NAME]", what, self.model),))

    def model(self, name: str) -> Next:
        """Raises ModelNotServed, ModelsNotListed and what connecting raises."""
        models = self._fetched()
        if not name:
            self._show(models)
            return "stay"
        if models is None:
            raise ModelsNotListed(self.client.endpoint.root.url)
        found = next((model for model in models if model.name == name), None)
        if found is None:
            raise ModelNotServed(f"there is no model {name[:64]!r}; there are {_names(models)}")
        return self._to(found)

    def of_saved(self, saved: SavedConversation) -> Next:
        """Go on with the model of a chat that was loaded, as far as the server has it: a model that
        cannot be had is told, and the chat goes on with the one that is there.
        """
        if self.way is None or self.way.chosen or not (saved.served or saved.manifest):
            return "stay"
        if saved.manifest == self.client.manifest.digest and saved.served in (
            None,
            self.client.model,
        ):
            return "stay"
        try:
            models = self._fetched()
            found = model_of(saved, models or ())
            if found is not None:
                return self._to(found, tell=False)
            if models is not None:
                here = model_words(self.client)
                self.screen.note(gone_line(saved, models, here))
        except ClientError as error:
            self.screen.note(
                f"the chat's own model cannot be had now: {one_line(str(error), 300)}; "
                f"{model_words(self.client)} goes on"
            )
        return "stay"

    def names(self) -> tuple[str, ...]:
        """Those to complete; asked for once."""
        if not self.known:
            self._fetched()
        return self.known

    def _fetched(self) -> tuple[ServedModel, ...] | None:
        models = self.client.served_models()
        self.known = tuple(model.name for model in models or ())
        return models

    def _to(self, model: ServedModel, *, tell: bool = True) -> Next:
        if is_here(self.client, model):
            if tell:
                self.screen.note(f"the chat is with {model_words(self.client)} already")
            return "stay"
        if self.way is None:
            raise ModelsNotListed(self.client.endpoint.root.url)
        self.way.begin(model.name)
        return "switch"

    def _show(self, models: tuple[ServedModel, ...] | None) -> None:
        self.screen.note(f"this chat is with {model_words(self.client)}")
        if models is None:
            self.screen.note("this server has one model and lists no others")
            return
        stored = [] if self.way is None else self.way.stored()
        for one in listed(models, stored, lambda _: None):
            self.screen.note(model_line(one, here=is_here(self.client, one.model)))
        if len(models) > 1:
            self.screen.note("/model NAME goes on with another one")


def _names(models: Sequence[ServedModel]) -> str:
    return ", ".join(model.name for model in models[:20])
