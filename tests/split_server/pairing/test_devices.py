"""The book of paired devices, which two processes share."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from split_server.pairing.devices import FILE, MAX_DEVICES, DeviceBook
from split_server.pairing.errors import StateUnusable, UnknownDevice
from split_server.pairing.state import StateFolder
from tests.pipes import pipe


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path)


def test_a_device_is_known_by_its_token_until_it_is_revoked(state: StateFolder) -> None:
    book = DeviceBook(state)
    device, token = book.add("phone", 5.0)
    assert book.identify(token) == device
    assert book.identify(token + "x") is None
    assert book.revoke("phone") == device
    assert book.identify(token) is None


def test_what_another_process_changes_is_seen_at_once(state: StateFolder) -> None:
    serving, command = DeviceBook(state), DeviceBook(state)
    device, token = serving.add("phone", 5.0)
    assert serving.identify(token) == device
    command.revoke(device.id)
    assert serving.identify(token) is None


def test_the_file_holds_no_token(state: StateFolder) -> None:
    _, token = DeviceBook(state).add("phone", 5.0)
    assert token.encode() not in state.file(FILE).read_bytes()


def test_names_are_one_short_line_and_never_the_same(state: StateFolder) -> None:
    book = DeviceBook(state)
    names = [
        book.add(name, 0.0)[0].name for name in ("phone", "phone", "a\x1b[31mb\nc", "", "x" * 99)
    ]
    assert names[:2] == ["phone", "phone 2"]
    assert names[2] == "a 31mb c"
    assert names[3] == "device"
    assert len(names[4]) == 40


def test_devices_that_pair_at_the_same_time_are_all_kept(state: StateFolder) -> None:
    threads = [
        threading.Thread(target=DeviceBook(state).add, args=(f"d{i}", 0.0)) for i in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {device.name for device in DeviceBook(state).devices()} == {f"d{i}" for i in range(12)}


def test_of_too_many_devices_the_oldest_goes(state: StateFolder) -> None:
    entries = [
        {"id": f"{i:08x}", "name": f"d{i}", "paired": i, "token_sha256": f"{i:064x}"}
        for i in range(MAX_DEVICES)
    ]
    state.write(FILE, json.dumps({"version": 1, "devices": entries}).encode())
    book = DeviceBook(state)
    book.add("new", 0.0)
    names = [device.name for device in book.devices()]
    assert (len(names), names[0], names[-1]) == (MAX_DEVICES, "d1", "new")


def test_an_unknown_device_cannot_be_revoked(state: StateFolder) -> None:
    with pytest.raises(UnknownDevice, match="'tablet'"):
        DeviceBook(state).revoke("tablet")


@pytest.mark.parametrize("content", [b"", b"[]", b'{"version": 1, "devices": [{"id": 3}]}', b"{"])
def test_a_damaged_book_lets_nobody_in_and_is_not_overwritten(
    state: StateFolder, content: bytes
) -> None:
    state.write(FILE, content)
    book = DeviceBook(state)
    with pytest.raises(StateUnusable):
        book.identify("any")
    with pytest.raises(StateUnusable):
        book.add("phone", 0.0)
    assert state.read(FILE) == content


@pytest.mark.parametrize("version", ["true", "1.0", "2"])
def test_another_version_lets_nobody_in(state: StateFolder, version: str) -> None:
    state.file(FILE).write_text(f'{{"version": {version}, "devices": []}}')
    with pytest.raises(StateUnusable, match="another version"):
        DeviceBook(state).identify("token")


def test_a_pipe_in_place_of_the_book_is_told_and_not_waited_for(state: StateFolder) -> None:
    with (
        pipe(state.file(FILE), b'{"version": 1, "devices": []}'),
        pytest.raises(StateUnusable, match="not a regular file"),
    ):
        DeviceBook(state).devices()


def test_a_lock_that_is_a_link_is_told_and_not_followed(state: StateFolder) -> None:
    state.file(f"{FILE}.lock").symlink_to(state.file("elsewhere"))
    with pytest.raises(StateUnusable, match="symbolic link"):
        DeviceBook(state).add("phone", 5.0)
    assert not state.file("elsewhere").exists()
