"""The objects that a full collection has to look at."""

from __future__ import annotations

import gc
import weakref

from split_server.serving.garbage_collection import leave_out_what_is_loaded


class Node:
    """Refers to itself, so that only a collection ends it."""

    def __init__(self) -> None:
        self.itself = self


def test_collections_pass_over_what_was_loaded_and_still_find_later_garbage() -> None:
    # What tests/conftest.py left out is looked at again.
    gc.unfreeze()
    before = len(gc.get_objects())
    try:
        leave_out_what_is_loaded()
        assert gc.get_freeze_count() > before // 2
        assert len(gc.get_objects()) < before // 2
        later = weakref.ref(Node())
        gc.collect()
        assert later() is None
    finally:
        gc.unfreeze()
