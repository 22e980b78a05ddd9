"""A model that leaves, or never came: what it had goes back, and why is told."""

from __future__ import annotations

import gc
import logging

from split_server.errors import LayersNotKept, ModelTooLarge, NoSpaceForCheckpoint, ServerError
from split_server.internal_error import internal_error
from split_server.memory.allocator import give_back_free_blocks
from split_server.memory.errors import is_memory_error
from split_server.serving.models.asked import Served
from split_server.threads import Threads
from split_wire.errors import ModelBusy, ModelUnusable, SplitError

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
    if isinstance(error, ModelTooLarge) or _of_memory(error):
        _log.warning("model %s could not be loaded: %s", name, error)
        return ModelBusy(name, "there is too little memory for it now", _RETRY)
    # Whose disk is full is told nothing of a model.
    if isinstance(error, ServerError) and not isinstance(
        error, NoSpaceForCheckpoint | LayersNotKept
    ):
        _log.error("model %s cannot be loaded: %s [%s]", name, error, error.code)
        return ModelUnusable(name)
    return internal_error()


def lasts(error: Exception) -> bool:
    """Whether a load that failed so fails again while what it reads stays as it is: files that
    could not be read may be readable later.
    """
    return not isinstance(error.__cause__, OSError)


def _of_memory(error: Exception) -> bool:
    cause = error.__cause__
    return is_memory_error(error) or (cause is not None and is_memory_error(cause))
