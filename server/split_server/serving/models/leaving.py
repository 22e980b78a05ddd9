"""A model that leaves, or never came: what it had goes back, and why is told."""

from __future__ import annotations

import gc
import logging

from split_server.errors import ModelTooLarge
from split_server.internal_error import internal_error
from split_server.memory.allocator import give_back_free_blocks
from split_server.memory.errors import is_memory_error
from split_server.serving.models.asked import Served
from split_server.threads import Threads
from split_wire.errors import ModelBusy, SplitError

_RETRY = 60.0
_log = logging.getLogger(__name__)


async def left(room: Served, thread: Threads) -> None:
    """Have its sessions parked and all of it ended; what fails on the way is logged."""
    try:
        await room.drain()
    # Whatever it is, the model leaves all the same.
    except Exception:  # noqa: BLE001
        _log.exception("a model that leaves could not be drained")
    try:
        await thread.run(room.close)
    except Exception:  # noqa: BLE001
        _log.exception("a model that leaves could not be closed")
    room.parts.let_go()


def give_back() -> None:
    """Have the memory of what nobody holds any more back with the system.

    Modules and their hooks refer to each other, which only a collection undoes.
    """
    gc.collect()
    give_back_free_blocks()


def told(name: str, error: Exception) -> SplitError:
    """What is told of a load that failed; what is wrong with the model is the operator's to know.

    The answer does not refer to ``error``, whose frames hold what was loaded.
    """
    if isinstance(error, SplitError):
        return error.with_traceback(None)
    if isinstance(error, ModelTooLarge) or is_memory_error(error):
        _log.warning("model %s could not be loaded: %s", name, error)
        return ModelBusy(name, "there is too little memory for it now", _RETRY)
    return internal_error()
