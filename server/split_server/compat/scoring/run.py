"""One prompt scored on a thread of its own; its sequence goes on with the reply."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from split_client.errors import Cancelled
from split_client.generation.sampling.logprobs import TokenLogprobs
from split_server.compat.scoring.blocks import BlockScores
from split_server.compat.sequences import LocalSequence
from split_wire.errors import Overloaded

# States that are there at once, and rows between two looks at whether somebody still waits.
STEP_ROWS = 256
_RETRY_SECONDS = 2.0


class ScoringRun:
    """``sequence``: empty; it holds ``prompt`` at the end. ``count``: of the most likely tokens."""

    def __init__(
        self, sequence: LocalSequence, prompt: tuple[int, ...], count: int, scores: BlockScores
    ) -> None:
        self.sequence, self.prompt = sequence, prompt
        self._count, self._scores = count, scores
        self._cancelled = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._told: asyncio.Future[list[TokenLogprobs]] = self._loop.create_future()

    def start(self, ended: Callable[[], None]) -> None:
        """Begin; ``ended`` is called on the event loop once nothing of it runs any more.

        Raises Overloaded where the system gives no thread; ``ended`` is not called then.
        """
        self.sequence.backend.cancelled = self._cancelled

        def work() -> None:
            outcome = self._outcome()
            # The loop is closed when the server gave it up on its way out.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._tell, outcome, ended)

        thread = threading.Thread(target=work, name="scoring", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            raise Overloaded("the system gives a scoring no thread", _RETRY_SECONDS) from None

    async def scores(self) -> list[TokenLogprobs]:
        """Of every token but the first. Raises what steps and the LM head raise."""
        try:
            return await asyncio.shield(self._told)
        finally:
            self._cancelled.set()

    def _tell(self, outcome: list[TokenLogprobs] | Exception, ended: Callable[[], None]) -> None:
        ended()
        if isinstance(outcome, Exception):
            self._told.set_exception(outcome)
            # Nobody may be left to retrieve it.
            self._told.exception()
        else:
            self._told.set_result(outcome)

    def _outcome(self) -> list[TokenLogprobs] | Exception:
        try:
            return self._scored()
        # Whatever it is belongs to whoever waits for the scores.
        except Exception as error:  # noqa: BLE001
            return error

    def _scored(self) -> list[TokenLogprobs]:
        tokens, told = list(self.prompt), list[TokenLogprobs]()
        for begun in range(0, len(tokens), STEP_ROWS):
            if self._cancelled.is_set():
                raise Cancelled
            end = min(begun + STEP_ROWS, len(tokens))
            states = self.sequence.cache(tokens[:end], rows=end - begun).states
            # What follows the last state of a prompt is its reply's.
            following = tokens[begun + 1 : end + 1]
            told += self._scores.of(states[: len(following)], following, self._count)
        return told
