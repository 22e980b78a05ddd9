"""Replies under one-time masks: the products of the encrypted way, which goes on without them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.crypto import making
from split_client.crypto.hosted import HostedAdapters
from split_client.crypto.making import device_ranges
from split_client.crypto.session import HostSession
from split_client.generation.sequence import Sequence
from split_client.owner_file import write_whole
from split_masks.device import Mask
from split_masks.ranges import MaskRange, RangeFile
from tests.adapter_hosts import RunningHost, made_host, running_host
from tests.patience import PATIENCE, until
from tests.split_client.crypto.correcting import (
    FILE,
    HIDDEN,
    SHORT,
    empty_sequence,
    hosted,
    reference,
)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Masks are made as soon as nothing is asked, and each test has numbers of its own."""
    monkeypatch.setattr(making, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(making, "_LOOK_SECONDS", 0.001)
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))


@contextmanager
def _serving(folder: Path, **options: Any) -> Iterator[RunningHost]:
    with running_host(made_host({"made": FILE}, masks=folder, **options)) as served:
        yield served


@contextmanager
def _masked(url: str, masks: int = 4, **options: Any) -> Iterator[tuple[HostedAdapters, Sequence]]:
    adapters, sequence = hosted(url, masks=masks, **options), empty_sequence()
    try:
        yield adapters, sequence
    finally:
        adapters.close()


def _filled(adapters: HostedAdapters, ready: int = 4) -> None:
    until(lambda: adapters.masks.ready >= ready)


def _states(sequence: Sequence, count: int) -> None:
    assert sequence.correct is not None
    for hidden in HIDDEN[:count]:
        expected = reference(hidden)
        error = np.linalg.norm(sequence.correct(hidden) - expected) / np.linalg.norm(expected)
        assert error < 1e-4


def _asked(adapters: HostedAdapters) -> list[str]:
    """The paths that replies ask for from now on."""
    asked: list[str] = []
    ask = adapters._link.ask

    def noted(method: Any, path: str, *rest: Any) -> bytes:
        asked.append(path.rpartition("/")[2])
        return ask(method, path, *rest)

    adapters._link.ask = noted  # type: ignore[method-assign]
    return asked


def test_a_reply_uses_its_masks_and_then_goes_on_encrypted(tmp_path: Path) -> None:
    with _serving(tmp_path, budget=100) as served, _masked(served.url) as (adapters, sequence):
        adapters.prepare("made")
        _filled(adapters)
        asked = _asked(adapters)
        adapters.use("made", sequence)
        _states(sequence, 6)
        assert asked == ["b", *["masked"] * 4, *["evaluate"] * 2]
        masks = adapters.masks
        assert (masks.wanted, masks.used, masks.encrypted, masks.lost) == (4, 4, 2, 0)
        # Four masks of the reply after it, made while the two were asked for, and two queries.
        _filled(adapters)
        assert adapters.masks.made == 8
        assert served.host.budget.left("local", "made") == 100 - 4 - 2 - 4


def test_masks_that_a_reply_leaves_are_forgotten_with_its_keys(tmp_path: Path) -> None:
    with _serving(tmp_path) as served, _masked(served.url) as (adapters, sequence):
        adapters.prepare("made")
        _filled(adapters)
        adapters.use("made", sequence)
        _states(sequence, 3)
        _filled(adapters)
        reply = sequence.correct
        adapters.use("made", sequence)
        assert adapters.masks.lost == 1
        assert reply._session is None  # type: ignore[union-attr]
        _states(sequence, 1)
        assert adapters.masks.used == 4


def test_without_masks_nothing_is_reserved(tmp_path: Path) -> None:
    with _serving(tmp_path) as served, _masked(served.url, 0) as (adapters, sequence):
        adapters.prepare("made")
        adapters.use("made", sequence)
        _states(sequence, 3)
        assert adapters.masks.encrypted == 3
    assert not (tmp_path / "host-masks.json").exists()
    assert not (tmp_path / "data" / "adapter-masks.json").exists()


def test_both_sides_have_written_a_range_down_before_its_first_mask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[dict[str, int], dict[str, int]]] = []
    make = HostSession.make_mask

    def looked(session: HostSession, *rest: Any) -> None:
        host = RangeFile(tmp_path / "host-masks.json", write_whole)
        found.append((host.reserved(), device_ranges().reserved()))
        make(session, *rest)

    monkeypatch.setattr(HostSession, "make_mask", looked)
    with _serving(tmp_path) as served, _masked(served.url) as (adapters, _):
        adapters.prepare("made")
        _filled(adapters)
    assert len(found) == 4
    for host, device in found:
        assert list(device.values()) == [4]
        assert host == {"local": 256}


@pytest.mark.parametrize("masks", [40, 512])
def test_many_masks_come_in_ranges_and_no_more_than_the_host_lets_one_hold(
    tmp_path: Path, masks: int
) -> None:
    with (
        _serving(tmp_path, masks_per_principal=40) as served,
        _masked(served.url, masks) as (adapters, _),
    ):
        adapters.prepare("made")
        _filled(adapters, 40)
        assert adapters.masks.made == 40
        assert device_ranges().reserved().popitem()[1] == 40


def test_a_host_that_makes_none_is_used_encrypted_and_says_so() -> None:
    with running_host(made_host({"made": FILE})) as served, _masked(served.url) as (both, sequence):
        both.prepare("made")
        until(lambda: both.masks.reason != "")
        assert both.masks.reason == "this host makes none"
        both.use("made", sequence)
        _states(sequence, 2)
        assert (both.masks.made, both.masks.encrypted) == (0, 2)


def test_a_budget_that_is_spent_by_masks_ends_the_reply_as_queries_end_it(tmp_path: Path) -> None:
    with _serving(tmp_path, budget=3) as served, _masked(served.url) as (adapters, sequence):
        adapters.prepare("made")
        _filled(adapters, 3)
        until(lambda: "--query-budget" in adapters.masks.reason)
        adapters.use("made", sequence)
        _states(sequence, 3)
        with pytest.raises(Exception, match="all 3 queries"):
            sequence.correct(HIDDEN[0])  # type: ignore[misc]


@pytest.mark.parametrize("code", ["used", "lost", "foreign"])
def test_masks_that_the_host_refuses_are_given_up_and_the_state_is_encrypted(
    tmp_path: Path, code: str
) -> None:
    with _serving(tmp_path) as served, _masked(served.url) as (adapters, sequence):
        adapters.prepare("made")
        _filled(adapters)
        (masks,) = served.host._masks._held.values()
        if code == "used":
            masks.kept.clear()
        else:
            masks.kept.clear()
            masks.ranges = []
            if code == "foreign":
                served.host._masks._numbers._given.clear()
        asked = _asked(adapters)
        adapters.use("made", sequence)
        _states(sequence, 3)
        assert asked == ["b", "masked", *["evaluate"] * 3]
        assert adapters.masks.lost == 3


def test_a_host_that_is_started_again_loses_masks_and_no_reply(tmp_path: Path) -> None:
    with _serving(tmp_path) as first:
        adapters, sequence = hosted(first.url, masks=4, patience=SHORT), empty_sequence()
        adapters.prepare("made")
        _filled(adapters)
    with running_host(made_host({"made": FILE}, masks=tmp_path), port=first.port):
        adapters.use("made", sequence)
        _states(sequence, 3)
        assert adapters.masks.lost == 3
        assert adapters.masks.used == 0
        _filled(adapters)
        adapters.close()


def test_a_host_whose_numbers_were_turned_back_gets_no_more_masks(tmp_path: Path) -> None:
    file = tmp_path / "host-masks.json"
    RangeFile(file, write_whole).reserve("local", 1)
    before = file.read_bytes()
    with _serving(tmp_path) as served, _masked(served.url) as (adapters, _):
        adapters.prepare("made")
        _filled(adapters)
    file.write_bytes(before)
    with _serving(tmp_path) as served, _masked(served.url) as (adapters, sequence):
        adapters.prepare("made")
        until(lambda: "turned back" in adapters.masks.reason)
        for _ in range(3):
            adapters.use("made", sequence)
            _states(sequence, 3)
        assert (adapters.masks.made, adapters.masks.encrypted) == (0, 9)
        # Asked for once: each range is spent.
        assert served.host._masks._numbers.given("local") == 5


@pytest.mark.parametrize("data", [b"", bytes(26), MaskRange(bytes(16), 0, 99).pack(), bytes(99)])
def test_a_range_that_is_not_what_was_asked_for_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.setattr(HostSession, "reserve", lambda *_: data)
    with _serving(tmp_path) as served, _masked(served.url) as (adapters, sequence):
        adapters.prepare("made")
        until(lambda: adapters.masks.reason != "")
        adapters.use("made", sequence)
        _states(sequence, 2)
        assert adapters.masks.made == 0


def test_a_file_that_is_damaged_on_the_device_leaves_the_encrypted_way(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "adapter-masks.json").write_bytes(b"{}")
    with _serving(tmp_path) as served, _masked(served.url) as (adapters, sequence):
        adapters.prepare("made")
        until(lambda: "remove it" in adapters.masks.reason)
        adapters.use("made", sequence)
        _states(sequence, 2)
        assert (adapters.masks.made, adapters.masks.encrypted) == (0, 2)


def test_a_state_out_of_range_spends_no_mask(tmp_path: Path) -> None:
    with _serving(tmp_path) as served, _masked(served.url) as (adapters, sequence):
        adapters.prepare("made")
        _filled(adapters)
        adapters.use("made", sequence)
        assert sequence.correct is not None
        sent: list[object] = []
        session = sequence.correct._session  # type: ignore[attr-defined]
        session._masked = lambda *given: sent.append(given)
        with pytest.raises(Exception, match="--activation-rms"):
            sequence.correct(np.full(64, np.inf, dtype=np.float32))
        assert sent == []


def test_a_fork_of_the_process_has_none_of_its_masks(tmp_path: Path) -> None:
    """Both would send states under the same r, and the host would see their difference."""
    with _serving(tmp_path) as served, _masked(served.url) as (adapters, sequence):
        adapters.prepare("made")
        _filled(adapters)
        adapters.use("made", sequence)
        masks = sequence.correct._session.masks  # type: ignore[union-attr]
        masks._pid = lambda: os.getpid() + 1
        assert masks.take() is None
        masks._pid = os.getpid
        assert masks.take() is None


def test_every_reply_has_keys_of_its_own_for_queries_and_masks(tmp_path: Path) -> None:
    """Or masks would bring back what keys of one reply keep away (test_reaction)."""
    with _serving(tmp_path) as served, _masked(served.url) as (adapters, sequence):
        adapters.prepare("made")
        keys, numbers = [], []
        for _ in range(3):
            _filled(adapters)
            adapters.use("made", sequence)
            session = sequence.correct._session  # type: ignore[union-attr]
            numbers += [mask.number for mask in session.masks._ready]
            keys.append(session._keys)
            assert len(session.masks) == 4
            _states(sequence, 6)
        assert len({key.public for key in keys}) == 3
        assert len(set(numbers)) == 12


def test_what_the_host_is_sent_for_a_state_is_never_the_same_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []
    masked: Callable[..., bytes] = Mask.masked

    def noted(mask: Mask, state: Any) -> bytes:
        sent.append(masked(mask, state))
        return sent[-1]

    monkeypatch.setattr(Mask, "masked", noted)
    with _serving(tmp_path) as served, _masked(served.url, 20) as (adapters, sequence):
        adapters.prepare("made")
        _filled(adapters, 20)
        adapters.use("made", sequence)
        assert sequence.correct is not None
        states = [sequence.correct(HIDDEN[0]) for _ in range(20)]
    assert len(set(sent)) == 20
    places = np.array([np.frombuffer(one, np.uint8) for one in sent])
    assert (places == places[0]).mean() < 0.1
    np.testing.assert_allclose(states, states[0][None].repeat(20, 0), atol=1e-3)


def test_a_close_ends_what_is_being_made(tmp_path: Path) -> None:
    with _serving(tmp_path) as served:
        adapters = hosted(served.url, masks=512)
        adapters.prepare("made")
        until(lambda: adapters.masks.ready > 3)
        adapters.close()
        thread = adapters._ahead._thread
        if thread is not None:
            thread.join(PATIENCE)
        assert adapters.masks.made < 512
