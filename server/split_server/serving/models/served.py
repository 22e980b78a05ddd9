"""The models that an application serves, and how each of them becomes a room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from split_server.metrics.models import ModelCounts
from split_server.serving.models.cards import Card
from split_server.serving.models.naming import NamedModel
from split_server.serving.models.room import Room
from split_server.serving.models.rooms import Rooms
from split_server.serving.models.shared import Shared
from split_server.serving.models.single import Single
from split_server.serving.parts import Parts

MakeRoom: TypeAlias = Callable[[NamedModel], Room]
# Who keeps the rooms of the models: the first one's is there, the others are made when wanted.
MakeKeeper: TypeAlias = Callable[[Sequence[NamedModel], MakeRoom, Room], Rooms]


def _kept_alone(models: Sequence[NamedModel], make: MakeRoom, first: Room) -> Rooms:
    del models, make
    return Single(first)


@dataclass(frozen=True, kw_only=True)
class Served:
    """``models``: the first one first, whose ``parts`` are loaded; ``load``: those of another, on
    any thread; ``cards``: what is known of each by name.
    """

    models: Sequence[NamedModel]
    parts: Parts
    load: Callable[[NamedModel], Parts]
    keeper: MakeKeeper = _kept_alone
    cards: Mapping[str, Card] = field(default_factory=dict)

    def expect(self, shared: Shared) -> None:
        """Have messages of all of them fit, whichever come."""
        for card in self.cards.values():
            if card.hidden_size is not None:
                shared.expect(card.hidden_size)

    def first(self, shared: Shared, models: Callable[[], Iterable[ModelCounts]]) -> Room:
        """The room at the root; ``models``: all there are, for its metrics."""
        named = self.models[0]
        return Room(named.name, called(self.parts, named), shared, models)

    def made(self, named: NamedModel, shared: Shared) -> Room:
        """The room of another. Raises the errors of ``split_server.errors``."""
        return Room(named.name, called(self.load(named), named), shared)


def called(parts: Parts, named: NamedModel) -> Parts:
    """``parts`` with the name under which text APIs know the model, where it was given one."""
    if not named.named or parts.compat is None:
        return parts
    return replace(parts, compat=replace(parts.compat, name=named.name))
