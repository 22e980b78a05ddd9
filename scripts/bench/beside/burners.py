"""Other programs beside the measured one, which use up a core each while they are let."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from scripts.bench.workers import Worker


class Burners:
    """``count`` processes of one busy thread each; they rest until they are wanted."""

    def __init__(self, count: int) -> None:
        self._workers: list[Worker] = []
        with ExitStack() as stack:
            for _ in range(count):
                self._workers.append(Worker("scripts.bench.beside.burner"))
                stack.callback(self._workers[-1].close)
            self._stack = stack.pop_all()

    def __enter__(self) -> Burners:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def count(self) -> int:
        return len(self._workers)

    @property
    def pids(self) -> list[int]:
        return [worker.pid for worker in self._workers]

    @contextmanager
    def burning(self) -> Iterator[None]:
        """The machine is busy inside."""
        for worker in self._workers:
            worker.ask(op="burn")
        try:
            yield
        finally:
            for worker in self._workers:
                worker.ask(op="rest")
