"""The list of a server's models, in our form and in those of OpenAI's and Ollama's APIs.

Nothing is loaded for it: what a model tells of itself is remembered from when it was there, and
before that it is what its folder says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from split_server.compat.ollama.answer import stamp
from split_server.compat.ollama.descriptions import Described
from split_server.compat.ollama.names import tagged
from split_server.compat.openai.model import ALIAS
from split_server.serving.models.cards import NO_CARD, Card
from split_server.serving.models.names import path_of
from split_server.serving.models.room import Room
from split_server.serving.models.rooms import Rooms, State


@dataclass(frozen=True, slots=True)
class _Met:
    """What a loaded model told of itself."""

    manifest: str
    family: str
    layers: int
    context: int
    dtype: str
    listed: Mapping[str, Any] | None
    described: Described | None


class Directory:
    """``cards``: by name; ``created``: Unix time at which serving began."""

    def __init__(self, rooms: Rooms, cards: Mapping[str, Card], created: float) -> None:
        self._rooms, self._cards, self._created = rooms, cards, created
        self._met: dict[str, _Met] = {}

    def meet(self, room: Room) -> None:
        """``room`` was made; it may go again."""
        info, texts = room.parts.steps.info, room.texts
        self._met[room.name] = _Met(
            room.parts.manifest.digest,
            info.family,
            info.num_layers,
            info.max_context,
            info.dtype,
            None if texts is None else texts.listed,
            None if texts is None else texts.described,
        )

    def names(self) -> list[str]:
        """Of all models."""
        return [state.name for state in self._rooms.states()]

    def documents(self) -> list[dict[str, Any]]:
        """Of all models, as ``GET /api/v1/models`` lists them."""
        return [self._document(state) for state in self._rooms.states()]

    def _document(self, state: State) -> dict[str, Any]:
        card, met = self._cards.get(state.name, NO_CARD), self._met.get(state.name)
        return {
            "name": state.name,
            "path": path_of(state.name),
            "first": state.first,
            "state": state.state,
            "manifest": None if met is None else met.manifest,
            "family": card.family if met is None else met.family,
            "layers": card.layers if met is None else met.layers,
            "context": card.context if met is None else met.context,
            "dtype": None if met is None else met.dtype,
            "bytes": card.size or state.bytes,
            "seconds": None if state.seconds is None else round(state.seconds, 1),
        }

    def openai(self, names: Sequence[str] = ()) -> list[dict[str, Any]]:
        """As OpenAI's API lists those of ``names``, all without, and what state each is in."""
        return [self._openai(state) for state in self._of(names)]

    def _openai(self, state: State) -> dict[str, Any]:
        met = self._met.get(state.name)
        if met is not None and met.listed is not None:
            return {**met.listed, "state": state.state}
        document = {
            "id": state.name,
            "object": "model",
            "created": int(self._created),
            "owned_by": ALIAS,
        }
        context = self._cards.get(state.name, NO_CARD).context
        if context is not None:
            document |= {"context_length": context, "max_model_len": context}
        return {**document, "state": state.state}

    def tags(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """``GET /api/tags``."""
        return {"models": [self._tag(state) for state in self._of(names)]}

    def running(self, names: Sequence[str] = ()) -> dict[str, Any]:
        """``GET /api/ps``: those that are loaded."""
        loaded = (state.name for state in self._of(names) if state.state == "loaded")
        found = (self._met.get(name) for name in loaded)
        described = (met.described for met in found if met is not None)
        return {"models": [one.running()["models"][0] for one in described if one is not None]}

    def _tag(self, state: State) -> dict[str, Any]:
        met = self._met.get(state.name)
        if met is not None and met.described is not None:
            tag: dict[str, Any] = met.described.tags()["models"][0]
            return {**tag, "state": state.state}
        card, name = self._cards.get(state.name, NO_CARD), tagged(state.name)
        family = card.family or ""
        return {
            "name": name,
            "model": name,
            "size": card.size or 0,
            "digest": "",
            "details": {
                "parent_model": "",
                "format": "safetensors",
                "family": family,
                "families": [family],
                "parameter_size": "",
                "quantization_level": "",
            },
            "modified_at": stamp(self._created),
            "state": state.state,
        }

    def _of(self, names: Sequence[str]) -> list[State]:
        """Those that have texts, as far as is known."""
        states = [state for state in self._rooms.states() if not names or state.name in names]
        met = ((state, self._met.get(state.name)) for state in states)
        return [state for state, one in met if one is None or one.listed is not None]
