"""What OpenMP's threads are told before torch is imported: its libraries read it when they load.

https://gcc.gnu.org/onlinedocs/libgomp/Environment-Variables.html
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, MutableMapping

from split_server.engine.model.cores import available_cores, cpu_quota

_THREADS, _LOOKS, _POLICY = "OMP_NUM_THREADS", "GOMP_SPINCOUNT", "OMP_WAIT_POLICY"
# Before a thread sleeps: about 0.1 ms, about what lies between two products of a decode step.
_FEW_LOOKS = "3000"


def prepare_openmp(
    environment: MutableMapping[str, str] = os.environ,
    quota: Callable[[], float | None] = cpu_quota,
    cores: Callable[[], frozenset[int]] = available_cores,
) -> None:
    """Set what nobody has: how often a thread looks for work before it sleeps, and no more threads
    than a CPU quota pays for.

    GNU's implementation looks 300,000 times, which takes milliseconds. Where another program has
    the core of one thread, the others burn theirs in the meantime, at every product, and the
    system takes them away for it.
    """
    if not environment.get(_LOOKS) and not environment.get(_POLICY):
        environment[_LOOKS] = _FEW_LOOKS
    limit = quota()
    # OpenMP knows the cores that the process may run on, but no quota.
    if limit is not None and limit < len(cores()) and not environment.get(_THREADS):
        environment[_THREADS] = str(max(1, math.floor(limit)))
