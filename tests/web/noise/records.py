"""The records of noised mode in a browser, and what a server is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

from split_server.sessions.framed import Answer, FramedSessions
from split_wire.codec import decode_client_message
from split_wire.messages import Close, Open, Step

_LIMIT = 1 << 26
# Runs in a page whose engine has opened the database once.
_STORE = """([name, key, value]) => new Promise((resolve, reject) => {
  const request = indexedDB.open('gatelink-noise');
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const database = request.result;
    const change = database.transaction(name, 'readwrite');
    if (value !== null) change.objectStore(name).put(value, key);
    const read = change.objectStore(name).getAllKeys();
    change.oncomplete = () => { database.close(); resolve(read.result); };
    change.onerror = () => reject(change.error);
  };
})"""


def use_key(page: Page, chat: str, key: bytes) -> None:
    """The key of a chat that has sent nothing yet."""
    script = f"""([chat, key]) => ({_STORE})(['chats', chat, {{
      key: Uint8Array.from(key), dtype: null, spent: [], blocks: 0, used: 1 }}])"""
    page.evaluate(script, [chat, list(key)])


def keys_of(page: Page, store: str) -> list[Any]:
    """All keys of an object store."""
    found: list[Any] = page.evaluate(_STORE, [store, None, None])
    return found


def forget_all(page: Page) -> None:
    """A browser whose data of noise were cleared; its page is to be loaded anew."""
    page.evaluate("""() => new Promise((resolve, reject) => {
      const request = indexedDB.deleteDatabase('gatelink-noise');
      request.onsuccess = resolve;
      request.onerror = () => reject(request.error);
    })""")


@dataclass
class Seen:
    """What the device sent: steps as (start, dtype, data, scales)."""

    steps: list[tuple[int, str, bytes, bytes]] = field(default_factory=list)
    dtypes_asked: list[str | None] = field(default_factory=list)
    sessions: int = 0

    @property
    def rows(self) -> int:
        """Rows in all steps."""
        return sum(len(step[2]) for step in self.steps)

    def taken(self) -> list[tuple[int, str, bytes, bytes]]:
        """The steps so far, which are forgotten."""
        steps, self.steps = self.steps, []
        return steps

    def watch(self, service: FramedSessions) -> Callable[[], None]:
        """Record what ``service`` is given; returns what ends that."""
        handle = service.handle

        async def told(principal: str, frame: bytes) -> Answer:
            self._add(bytes(frame))
            return await handle(principal, frame)

        service.handle = told  # type: ignore[method-assign]

        def end() -> None:
            service.handle = handle  # type: ignore[method-assign]

        return end

    def _add(self, frame: bytes) -> None:
        message = decode_client_message(frame, _LIMIT)
        if isinstance(message, Step):
            rows = message.embeddings
            self.steps.append(
                (message.start, rows.dtype, bytes(rows.data), bytes(rows.scales or b""))
            )
        elif isinstance(message, Open):
            self.dtypes_asked.append(message.dtype)
        elif isinstance(message, Close):
            self.sessions += 1
