"""Who is paired is what a fresh look found; where nobody knows, nobody is let in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from split_server.pairing.devices import FILE, DeviceBook
from split_server.pairing.errors import StateUnavailable
from split_server.pairing.known import FRESH, KnownDevices
from split_server.pairing.state import StateFolder
from tests.patience import PATIENCE


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Book:
    """One server's view of the book of ``folder``, and another server's."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.state = Clock(), StateFolder(folder)
        self.known = KnownDevices(DeviceBook(self.state), self.clock, PATIENCE)
        self.elsewhere = DeviceBook(StateFolder(folder))

    async def admits(self, token: str) -> bool | None:
        """None where it is not known."""
        try:
            return await self.known.principal(token) is not None
        except StateUnavailable:
            return None


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "state")


def _run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


def test_a_device_is_let_in_as_soon_as_another_server_has_paired_it_and_out_at_once(
    book: Book,
) -> None:
    async def scenario() -> None:
        assert await book.admits("nobody-has-this-token") is False
        device, token = book.elsewhere.add("phone", 0.0)
        assert await book.admits(token)
        assert book.known.principals() == frozenset({device.principal})
        book.elsewhere.revoke("phone")
        assert await book.admits(token) is False
        assert book.known.principals() == frozenset()

    _run(scenario)


def test_a_folder_that_is_gone_locks_devices_out_and_revokes_nobody(
    book: Book, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    async def scenario() -> None:
        device, token = book.elsewhere.add("phone", 0.0)
        assert await book.admits(token)
        away = book.state.path.with_name("away")
        book.state.path.rename(away)
        for _ in range(3):
            assert await book.admits(token) is None
            assert book.known.principals() is None
        # What a mount leaves behind is an empty folder.
        book.state.path.mkdir()
        assert await book.admits(token) is None
        book.state.path.rmdir()
        away.rename(book.state.path)
        assert await book.admits(token)
        assert book.known.principals() == frozenset({device.principal})

    _run(scenario)
    assert caplog.text.count("paired devices are locked out") == 1
    assert caplog.text.count("paired devices are let in again") == 1


def test_a_book_that_was_deleted_beside_other_files_pairs_nobody(book: Book) -> None:
    async def scenario() -> None:
        book.state.write("ca.key", b"key")
        _, token = book.elsewhere.add("phone", 0.0)
        assert await book.admits(token)
        book.state.file(FILE).unlink()
        assert await book.admits(token) is False

    _run(scenario)


@pytest.mark.parametrize("content", [b"", b'{"version": 1, "devices": [3]}'])
def test_a_damaged_book_locks_out_until_it_is_mended(book: Book, content: bytes) -> None:
    async def scenario() -> None:
        _, token = book.elsewhere.add("phone", 0.0)
        whole = book.state.file(FILE).read_bytes()
        book.state.write(FILE, content)
        assert await book.admits(token) is None
        book.state.write(FILE, whole)
        assert await book.admits(token)

    _run(scenario)


def test_a_disk_that_does_not_answer_is_believed_for_a_moment_and_no_longer(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    gate.set()
    version = StateFolder.version

    def slow(state: StateFolder, name: str) -> Any:
        assert gate.wait(PATIENCE)
        return version(state, name)

    monkeypatch.setattr(StateFolder, "version", slow)

    async def scenario() -> None:
        _, token = book.elsewhere.add("phone", 0.0)
        assert await book.admits(token)
        book.known._looks._patience = 0.01
        gate.clear()
        book.clock.now += FRESH
        assert await book.admits(token)
        book.clock.now += 0.1
        assert await book.admits(token) is None
        # What the slow look brings in the end is as old as its beginning.
        gate.set()
        book.known._looks._patience = PATIENCE
        assert await book.admits(token)

    _run(scenario)
