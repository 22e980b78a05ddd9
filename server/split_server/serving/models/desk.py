"""What ``/api/v1/models`` asks: the list, and the coming and going of a model."""

from __future__ import annotations

from typing import Any

from split_server.serving.models.directory import Directory
from split_server.serving.models.rooms import Rooms


class ModelsDesk:
    """Answers for ``http.models``."""

    def __init__(self, rooms: Rooms, directory: Directory) -> None:
        self._rooms, self._directory = rooms, directory

    def listed(self) -> list[dict[str, Any]]:
        """All models."""
        return self._directory.documents()

    async def load(self, name: str, principal: str) -> str:
        """The state that the model is in then. Raises what loading raises."""
        await self._rooms.load(name, principal)
        return self._state(name)

    async def unload(self, name: str, principal: str, *, operator: bool) -> str:
        """The state that the model is in then. Raises what letting go raises."""
        await self._rooms.unload(name, principal, operator=operator)
        return self._state(name)

    def _state(self, name: str) -> str:
        return next(state.state for state in self._rooms.states() if state.name == name)
