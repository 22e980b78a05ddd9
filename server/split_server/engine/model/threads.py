"""The number of threads that one matrix product may use, and what keeps them fast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

from split_server.engine.giving_way import given_way_to, giving_way
from split_server.engine.linears.choice import threads_set
from split_server.engine.model.cores import free_cores

_T = TypeVar("_T")
# What the process began with.
_ALL = torch.get_num_threads()
# One core multiplies a matrix of this many values by a vector in about 0.1 ms; waking a second
# core, and above all waiting for one that another process holds, costs more.
_WORTH_SHARING = 1 << 20


def choose_threads(
    parameters: Iterable[torch.Tensor], wanted: int = 0, free: Callable[[], int] = free_cores
) -> int:
    """``wanted`` threads, or for 0: one for small matrices, else one per free core.

    More threads than free cores make each product wait for the one that gets no core.
    """
    if wanted:
        return wanted
    largest = max((parameter.numel() for parameter in parameters), default=0)
    if largest < _WORTH_SHARING or torch.get_num_threads() == 1:
        return 1
    return min(torch.get_num_threads(), free())


def on_passing_thread(work: Callable[[], _T]) -> _T:
    """Return or raise what ``work`` does, from a thread that has ended then.

    OpenMP keeps a team of threads for every thread that ever computed in parallel. Once all teams
    together have more threads than there are cores, GNU's implementation has each team sleep
    between two products in place of waiting (``GOMP_SPINCOUNT``), and a model with many small
    products takes half as long again. A thread that ends takes its team along. It gives way to
    passes where the calling thread does.
    """
    turns = given_way_to()

    def there() -> _T:
        # torch has a thread begin with the number that was set last, of another model perhaps.
        torch.set_num_threads(_ALL)
        with giving_way(turns):
            return work()

    with ThreadPoolExecutor(1, "setup") as thread:
        return thread.submit(there).result()


@contextmanager
def beside_others() -> Iterator[None]:
    """Compute with one thread inside where the calling thread gives way to passes: for what gives
    the same bits with any number.
    """
    count = torch.get_num_threads() if given_way_to() is None else 1
    with threads_set(count):
        yield
