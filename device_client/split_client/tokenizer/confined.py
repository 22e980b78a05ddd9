"""A tokenizer in a process with limits of memory and time."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from split_client.confined.process import ConfinedProcess, Stopped
from split_client.errors import TextTooCostly, TokenizerInvalid

MAX_SECONDS = 10.0
MAX_MEMORY = 512 << 20
_MAX_ANSWER = 64 << 20
_WORKER = "split_client.tokenizer.worker"
# A thread for each processor would have a heap of its own within the limit.
_ENVIRON = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}


class ConfinedEngine:
    """The file at ``path``, opened and run by a process that starts with the first request.

    It is started again after a text that it did not survive. From any thread; requests wait for
    each other. ``seconds``: for each of them; ``memory``: bytes of the process.
    """

    def __init__(
        self, path: Path, *, seconds: float = MAX_SECONDS, memory: int = MAX_MEMORY
    ) -> None:
        self._process = ConfinedProcess(
            _WORKER,
            [str(memory), str(path)],
            seconds=seconds,
            most_answer=_MAX_ANSWER,
            environ=_ENVIRON,
        )
        self._lock = threading.Lock()
        self.size = 0
        self.control: dict[int, str] = {}
        self.added: frozenset[str] = frozenset()

    def open(self) -> None:
        """Read the file. Raises TokenizerInvalid."""
        try:
            value = self._ask({"open": True})
        except TextTooCostly as error:
            self.close()
            raise TokenizerInvalid("opening it takes too much memory or time") from error
        self.size = int(value["size"])
        self.control = {int(index): str(content) for index, content in value["control"]}
        self.added = frozenset(map(str, value["added"]))

    def encode(self, text: str, special: bool) -> list[int]:
        """Ids of ``text``. Raises TextTooCostly."""
        ids: list[int] = self._ask({"encode": text, "special": special})
        return ids

    def decode(self, ids: list[int], skip_special: bool) -> str:
        """The text of ``ids``. Raises TextTooCostly."""
        text: str = self._ask({"decode": ids, "skip_special": skip_special})
        return text

    def to_json(self) -> str:
        """The text of its file. Raises TextTooCostly."""
        text: str = self._ask({"to_json": True})
        return text

    def close(self) -> None:
        """End the process; the next request starts another."""
        with self._lock:
            self._process.close()

    def kill(self) -> None:
        """End the process, also in the middle of a request."""
        self._process.kill()
        self.close()

    def _ask(self, request: dict[str, Any]) -> Any:
        with self._lock:
            try:
                answer = self._process.ask(request)
            except Stopped as stopped:
                raise TextTooCostly(str(stopped)) from None
            if "value" in answer:
                return answer["value"]
            self._process.close()
        if "damaged" in answer:
            raise TokenizerInvalid("its file is damaged")
        raise TextTooCostly(str(answer.get("too_costly", "it failed")))
