"""Messages that a language model writes in the place of a person: text of the kind that chats have.

A model that was trained on chats was trained on their messages too. Behind the template's beginning
of a message it writes one, and an attacker may have as many as there is time for (Xu et al. 2024,
"Magpie"). Counts of them say what follows what without a run of the model for each text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.session import Model
from split_client.errors import ServerRefused

# Longer ones are no messages any more; of a shorter one there is nothing to learn.
_LONGEST, _SHORTEST = 60, 4
# Of the likeliest tokens those that have this much probability together.
_NUCLEUS = 0.97


def written(
    model: PublicModel, sessions: Sequence[Model], count: int, rng: np.random.Generator
) -> Iterator[str]:
    """``count`` messages or fewer, because what did not end in time is left out; none from a model
    whose template does not tell where a message ends.

    All ``sessions`` write at the same time. Raises their errors and TimeUp.
    """
    if not model.suffix:
        return
    with ThreadPoolExecutor(len(sessions), "audit-writer") as pool:
        writers = [_Writer(model, session) for session in sessions]
        begun = 0
        while begun < count:
            writers = _with_a_place(pool, writers)
            begun += len(writers)
            yield from _round(model, pool, writers, rng)


def _with_a_place(pool: ThreadPoolExecutor, writers: list[_Writer]) -> list[_Writer]:
    """Those that begin a message. A server that has no place for some goes on with the others."""
    began = list(pool.map(_Writer.begin, writers))
    there = [writer for writer, refused in zip(writers, began, strict=True) if refused is None]
    if not there:
        raise next(refused for refused in began if refused is not None)
    return there


def _round(
    model: PublicModel, pool: ThreadPoolExecutor, writers: list[_Writer], rng: np.random.Generator
) -> Iterator[str]:
    """One message of each."""
    writing = writers
    for _ in range(_LONGEST):
        states = np.stack(list(pool.map(_Writer.state, writing)))
        drawn = _drawn(model.log_probabilities(states), rng)
        for writer, token in zip(writing, drawn, strict=True):
            writer.tokens.append(int(token))
        ended = [one for one in writing if one.tokens[-1] == model.suffix[0]]
        writing = [one for one in writing if one.tokens[-1] != model.suffix[0]]
        for one in ended:
            if len(one.tokens) > _SHORTEST:
                yield model.text(one.tokens[:-1]).strip()
        if not writing:
            return


def _drawn(logs: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """One token of each of ``logs`` [n, V]."""
    order = np.argsort(-logs, axis=1)
    chances = np.exp(np.take_along_axis(logs, order, axis=1))
    before = np.cumsum(chances, axis=1) - chances
    chances[before >= _NUCLEUS] = 0.0
    totals = np.cumsum(chances, axis=1)
    places = (totals <= rng.random((len(logs), 1)) * totals[:, -1:]).sum(axis=1)
    return np.take_along_axis(order, places[:, None], axis=1)[:, 0]


class _Writer:
    """One session; ``tokens`` of the message that it writes."""

    def __init__(self, model: PublicModel, session: Model) -> None:
        self._model, self._session = model, session
        self.tokens: list[int] = []
        self._held = 0

    def begin(self) -> ServerRefused | None:
        """A new message, if the server lets it; else why not."""
        self.tokens, self._held = [], 0
        try:
            self._session.run(self._model.rows(self._model.prefix), 0)
        except ServerRefused as error:
            return error
        self._held = len(self._model.prefix)
        return None

    def state(self) -> NDArray[np.float32]:
        """The state after what is written so far, [H]."""
        text = [*self._model.prefix, *self.tokens]
        # The last row again where nothing is written yet.
        start = min(self._held, len(text) - 1)
        try:
            states = self._session.run(self._model.rows(text[start:]), start)
        except ServerRefused:
            # A session that was idle for long is given up: the text begins another one.
            states = self._session.run(self._model.rows(text), 0)
        self._held = len(text)
        return np.asarray(states[-1])
