"""Sessions of the attacker's that run at the same time: a server serves their steps in one pass.

A server has the whole model. It could run it on any text that it thinks possible, and so can an
attacker that opens sessions there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.session import Model
from split_client.errors import ServerRefused

Text: TypeAlias = tuple[int, ...]
Found: TypeAlias = list[tuple[Text, NDArray[np.float32]]]
_KEPT_BYTES = 128 << 20


class Flock:
    """Final states of texts over clean rows, by running ``sessions`` of ``model``.

    States are kept by their text, because hypotheses and attacks come back to the same ones.
    """

    def __init__(self, model: PublicModel, sessions: Sequence[Model]) -> None:
        self._members = [_Member(model, session) for session in sessions]
        self._pool = ThreadPoolExecutor(len(sessions), "audit-session")
        self._states: OrderedDict[Text, NDArray[np.float32]] = OrderedDict()
        self._most = max(1, _KEPT_BYTES // (4 * model.hidden))

    def states(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """The state after the last token of each of ``texts``, [texts, H].

        Raises the errors of sessions and TimeUp.
        """
        wanted = sorted({text for text in texts if text not in self._states})
        self._run(wanted)
        for text in texts:
            self._states.move_to_end(text)
        found = np.stack([self._states[text] for text in texts])
        while len(self._states) > self._most:
            self._states.popitem(last=False)
        return found

    def close(self) -> None:
        """End what runs. The sessions are whose they were."""
        self._pool.shutdown()

    def _run(self, texts: list[Text]) -> None:
        """Neighbours in order begin alike, so each member has a run of them. What others begin with
        is found on the way to them, unless a member's cache holds it.
        """
        while texts:
            ends = _ends(texts)
            members = sorted(self._members, key=lambda one: one.tokens)[: len(ends)]
            shares = np.array_split(np.arange(len(ends)), len(members))
            futures = {
                self._pool.submit(member.run, [ends[index] for index in share]): member
                for member, share in zip(members, shares, strict=True)
            }
            # Nothing runs any more when an error is told.
            wait(futures)
            for future, member in futures.items():
                self._take(future, member)
            texts = [text for text in texts if text not in self._states]

    def _take(self, future: Future[Found], member: _Member) -> None:
        """Keep what ``member`` found. A server that has no place for it goes on with the others."""
        try:
            self._states.update(future.result())
        except ServerRefused:
            if len(self._members) == 1:
                raise
            self._members.remove(member)


class _Member:
    """One session, and the ``tokens`` whose rows its cache is known to hold."""

    def __init__(self, model: PublicModel, session: Model) -> None:
        self._model, self._session = model, session
        self.tokens: Text = ()

    def run(self, texts: Sequence[Text]) -> Found:
        return [one for text in texts for one in self._states(text)]

    def _states(self, text: Text) -> Found:
        """The states after ``text`` and after those of its beginnings that are run with it."""
        start = 0
        for left, right in zip(self.tokens, text[:-1], strict=False):
            if left != right:
                break
            start += 1
        # Nothing is known of the cache where the work is broken off.
        self.tokens = ()
        try:
            states = self._session.run(self._model.rows(text[start:]), start)
        except ServerRefused:
            if start == 0:
                raise
            # A session that was idle for long is given up: the text begins another one.
            states = self._session.run(self._model.rows(text), 0)
        self.tokens = text
        shorter = len(text) + 1 - len(states)
        return [(text[: shorter + row], np.array(state)) for row, state in enumerate(states)]


def _ends(texts: list[Text]) -> list[Text]:
    """Those of ``texts``, in order, that no other one begins with."""
    following: list[Text] = [*texts[1:], ()]
    return [one for one, after in zip(texts, following, strict=True) if after[: len(one)] != one]
