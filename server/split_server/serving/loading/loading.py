"""Models loaded into one process, within one account of its memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from split_server.engine.device_turns import DeviceTurns
from split_server.engine.giving_way import giving_way
from split_server.engine.model.module import load_on_one_thread
from split_server.memory.allocator import give_back_large_blocks
from split_server.memory.shared import SharedMemory
from split_server.serving.loading.prospect import Prospect, prospect_of
from split_server.serving.models.naming import NamedModel
from split_server.serving.opened import Opened, open_all
from split_server.serving.parts import Parts
from split_server.serving.startup import load_parts


class Loading:
    """What a keeper asks of memory and of models.

    :meth:`prepare` and :meth:`parts` block, and run on the thread that loads; everything else is
    for the event loop. ``several``: there is more than one model.
    """

    def __init__(self, *, several: bool = False) -> None:
        if several:
            # To give back what lies between blocks in use has every other model wait.
            give_back_large_blocks()
            load_on_one_thread()
        self._shared = SharedMemory()
        self._turns = DeviceTurns() if several else None
        self._opened: dict[str, Opened] = {}

    def prepare(self, named: NamedModel) -> Prospect:
        """Open the model on disk, and see what it would take.

        Raises the errors of ``split_server.errors``.
        """
        with giving_way(self._turns):
            opened = open_all(named.config)
            self._opened = {named.name: opened}
            return prospect_of(named.config, opened.checkpoint, self._shared)

    def parts(self, named: NamedModel, opened: Opened | None = None) -> Parts:
        """Load the model, as it was prepared or ``opened``.

        Raises the errors of ``split_server.errors``.
        """
        opened = opened or self._opened.pop(named.name, None)
        return load_parts(named.config, opened, self._shared, self._turns)

    @contextmanager
    def promised(self, size: int) -> Iterator[None]:
        """Keep ``size`` bytes from the caches of other models while one is loaded."""
        with self._shared.loading(size):
            yield
