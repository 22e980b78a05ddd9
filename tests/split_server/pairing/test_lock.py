"""A lock that somebody holds on and on is told, and not waited for without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_files import take_lock
from split_server.pairing.errors import StateUnusable
from split_server.pairing.lock import held
from split_server.pairing.state import StateFolder


def test_a_server_that_is_stopped_in_a_change_keeps_the_others_waiting_only_so_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("split_server.pairing.lock.PATIENCE", 0.05)
    state = StateFolder(tmp_path)
    with (
        take_lock(tmp_path / "book.lock"),
        pytest.raises(StateUnusable, match="another server holds it"),
        held(state, "book"),
    ):
        pass
    with held(state, "book"):
        assert (tmp_path / "book.lock").exists()
