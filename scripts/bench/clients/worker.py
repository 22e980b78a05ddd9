"""Clients of some kinds in one process: ``python -m scripts.bench.clients.worker``.

Requests: ``open`` (connect them), ``ids`` (what the template makes of chats; needs a split client),
``alone`` (the reply to every prompt, one after the other), ``mix`` (all clients at once for a
while), ``close``. Times are of the monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

from scripts.bench.clients.prompts import Kind, prompts_of
from scripts.bench.clients.speaker import Speaker
from scripts.bench.clients.split import SplitSpeaker
from scripts.bench.clients.tally import together
from scripts.bench.clients.text import KoboldEvents, KoboldSocket, OpenAIClient
from scripts.bench.clients.user import Habits, User, heard_alone
from scripts.bench.workers import serve

_TEXT_CLIENTS = {
    "openai": OpenAIClient,
    "kobold socket": KoboldSocket,
    "kobold events": KoboldEvents,
}


class ClientsWorker:
    """Answers the requests; the clients live on one event loop between them."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._clients: list[tuple[Kind, Speaker]] = []
        self._alone: dict[str, list[list[str]]] = {}

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request by its ``op``."""
        operation = getattr(self, request.pop("op"))
        answer: dict[str, Any] = self._runner.run(operation(**request))
        return answer

    async def open(self, url: str, cache: str, kinds: list[Kind], seed: str) -> dict[str, Any]:
        """Connect a client of each of ``kinds``."""
        for number, kind in enumerate(kinds):
            rng = random.Random(f"{seed}/{number}/{kind}")
            self._clients.append((kind, await _client(kind, url, Path(cache), rng)))
        return {}

    async def ids(self, chats: list[list[dict[str, str]]]) -> dict[str, Any]:
        """Token ids of every chat."""
        split = next(one for _, one in self._clients if isinstance(one, SplitSpeaker))
        return {"ids": [await split.ids(chat) for chat in chats]}

    async def alone(self, chats: list[Any], ids: list[list[int]], tokens: int) -> dict[str, Any]:
        """The replies of the first client of every kind, as texts."""
        prompts = prompts_of(chats, ids)
        for kind, client in dict(reversed(self._clients)).items():
            self._alone[kind] = [await heard_alone(client, prompt, tokens) for prompt in prompts]
        return {kind: ["".join(one) for one in heard] for kind, heard in self._alone.items()}

    async def mix(
        self,
        chats: list[Any],
        ids: list[list[int]],
        seconds: float,
        seed: str,
        habits: dict[str, Any],
    ) -> dict[str, Any]:
        """All clients at once; what they counted, by kind."""
        prompts, until = prompts_of(chats, ids), time.monotonic() + seconds
        users: list[tuple[Kind, User]] = []
        for number, (kind, client) in enumerate(self._clients):
            rng = random.Random(f"{seed}/{number}")
            user = User(client, prompts, self._alone[kind], Habits(**habits), rng)
            users.append((kind, user))
        async with asyncio.TaskGroup() as group:
            for _, user in users:
                group.create_task(user.live(until))
        kinds = Counter(kind for kind, _ in users)
        return {
            kind: together(user.tally for own, user in users if own == kind).document()
            for kind in kinds
        }

    async def close(self) -> dict[str, Any]:
        """End all connections in order."""
        for _, client in self._clients:
            await client.close()
        self._clients.clear()
        return {}


async def _client(kind: Kind, url: str, cache: Path, rng: random.Random) -> Speaker:
    if kind == "split":
        split = SplitSpeaker(url, cache)
        await split.open()
        return split
    return _TEXT_CLIENTS[kind](url, rng)


if __name__ == "__main__":
    with asyncio.Runner() as living:
        serve(ClientsWorker(living).handle)
