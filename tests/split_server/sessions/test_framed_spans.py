"""Spans of framed sessions: what may be hidden, what becomes of it, and who else may see it."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.kv.block_key import Namespaces
from split_server.kv.cache import buffered
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.memory.budget import BudgetLimits
from split_server.sessions.audit import Audit
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_wire.client import ClientProtocol, SpansHidden
from split_wire.codec import encode_message
from split_wire.hiding import spans as spans_module
from split_wire.hiding.seeing import Hide
from split_wire.hiding.spans import Spans
from split_wire.messages import Close
from split_wire.tiers import Inexact
from tests import oracle
from tests.engines import Device, TinySessions, serving, tiny_backbone

PROMPT = [11 + i % 60 for i in range(100)]
HIDDEN: Spans = ((4, 30), (40, 70))
MESSAGE: Spans = ((90, 98),)


def reuse(share: float = 0.0) -> Reuse:
    pool = RunPool(PoolLimits())
    bounds: Any = {"exact": 1e-4, "int8": 0.1}
    audit = Audit(pool, share, bounds, draw=lambda: 0.0) if share else None
    return Reuse(pool, Namespaces("of the test"), audit=audit)


def run(
    path: Path, scenario: Callable[[TinySessions, Device], Awaitable[None]], **options: Any
) -> None:
    async def whole() -> None:
        async with serving(path, spans=True, **options) as service:
            device = await Device(service, path).open()
            await device.step(0, PROMPT)
            await scenario(service, device)

    asyncio.run(whole())


def session_of(service: TinySessions, device: Device) -> Session:
    opened = device.protocol.opened
    assert opened is not None
    return service.store.get(device.principal, opened.session)


async def hide(device: Device, spans: Spans = HIDDEN) -> None:
    assert await device.send(device.protocol.hide(spans, MESSAGE)) == SpansHidden(
        device.protocol.hidden
    )


def masked(path: Path, before: list[int], ids: list[int], hidden: Spans) -> torch.Tensor:
    """The final state of ``ids`` by Hugging Face, behind ``before`` of which some are hidden."""
    model, mask = oracle.model(path), torch.ones(1, len(before) + len(ids), dtype=torch.long)
    for start, end in hidden:
        mask[:, start:end] = 0
    with torch.inference_mode():
        cache = model(torch.tensor([before]), use_cache=True).past_key_values
        out = model(
            torch.tensor([ids]),
            attention_mask=mask,
            position_ids=torch.arange(len(before), mask.shape[1])[None],
            past_key_values=cache,
        )
    return out.logits[0, -1]


def test_a_reply_behind_hidden_rows_is_that_of_a_mask_and_says_that_it_is_approximate(
    tiny_path: Path,
) -> None:
    async def scenario(service: TinySessions, device: Device) -> None:
        await hide(device)
        done = await device.step(100, [5, 6, 7])
        wanted = masked(tiny_path, PROMPT, [5, 6, 7], HIDDEN)
        found = oracle.head(tiny_path, torch.from_numpy(done.hidden.copy()))[0]
        torch.testing.assert_close(found, wanted, atol=2e-4, rtol=1e-4)
        assert done.tiers == Inexact(approximate=3)
        # Below the first of them all is exact again.
        again = await device.step(50, [3])
        assert again.tiers == Inexact(approximate=1)
        assert device.protocol.hidden == session_of(service, device).cache.hidden
        assert device.protocol.hidden == ((4, 30), (40, 50))
        assert (await device.step(4, [3])).tiers == Inexact()

    run(tiny_path, scenario)


def test_what_was_hidden_and_shown_again_is_what_it_was_bit_for_bit(tiny_path: Path) -> None:
    async def scenario(service: TinySessions, device: Device) -> None:
        cache = buffered(session_of(service, device).cache)
        before = [layer.keys.clone() for layer in cache.layers]
        await hide(device)
        assert await device.send(device.protocol.show(((4, 60),))) == SpansHidden(((60, 70),))
        assert await device.send(device.protocol.show(((0, 100),))) == SpansHidden(())
        assert all(
            torch.equal(one, layer.keys) for one, layer in zip(before, cache.layers, strict=True)
        )
        assert (await device.step(100, [5])).tiers == Inexact()

    run(tiny_path, scenario)


def test_the_same_hide_sent_again_is_answered_the_same(tiny_path: Path) -> None:
    async def scenario(service: TinySessions, device: Device) -> None:
        frame = device.protocol.hide(HIDDEN, MESSAGE)
        answers = [(await service.handle("local", frame)).frame for _ in range(3)]
        assert len({*answers}) == 1
        assert device.protocol.receive(answers[0]) == SpansHidden(HIDDEN)

    run(tiny_path, scenario)


BAD: dict[str, tuple[str, dict[str, Any]]] = {
    "a sink": ("spans_refused", {"spans": ((3, 9),)}),
    "the last message": ("spans_refused", {"spans": ((50, 91),)}),
    "beyond the cache": ("spans_refused", {"spans": ((50, 101),)}),
    "nothing": ("spans_refused", {"spans": ()}),
    "no such position": ("start_beyond_cache", {"cached": 101}),
    "another prefix": ("prefix_mismatch", {"prefix": bytes(16)}),
    "another's session": ("unknown_session", {"session": "x" * 22}),
    "unsorted": ("malformed_message", {"spans": ((50, 60), (10, 20))}),
    "overlapping": ("malformed_message", {"spans": ((10, 20), (19, 30))}),
    "empty": ("malformed_message", {"spans": ((10, 10),)}),
    "too many": (
        "malformed_message",
        {"spans": tuple((4 + 2 * at, 5 + 2 * at) for at in range(1025))},
    ),
    "two messages": ("malformed_message", {"message": ((80, 85), (90, 95))}),
}


@pytest.mark.parametrize("case", BAD)
def test_what_may_not_be_hidden_is_refused_and_nothing_changes(tiny_path: Path, case: str) -> None:
    code, change = BAD[case]

    async def scenario(service: TinySessions, device: Device) -> None:
        await hide(device, ((10, 20),))
        session = session_of(service, device)
        good = Hide(session.key, 100, session.chain.at(100), HIDDEN, MESSAGE)
        answer = await service.handle("local", encode_message(dataclasses.replace(good, **change)))
        assert answer.error is not None
        assert answer.error.code == code
        assert session.cache.hidden == ((10, 20),)
        assert not session.running
        await device.step(100, [5])

    run(tiny_path, scenario)


def test_more_spans_than_a_session_may_hide_are_refused(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spans_module, "MOST_SPANS", 3)

    async def scenario(service: TinySessions, device: Device) -> None:
        await hide(device, ((10, 12), (20, 22), (30, 32)))
        session = session_of(service, device)
        message = Hide(session.key, 100, session.chain.at(100), ((40, 42),))
        error = (await service.handle("local", encode_message(message))).error
        assert error is not None
        assert error.code == "spans_refused"
        # What touches the others makes no more of them.
        await hide(device, ((12, 20),))
        assert session.cache.hidden == ((10, 22), (30, 32))

    run(tiny_path, scenario)


def test_a_server_that_does_not_offer_it_refuses(tiny_path: Path) -> None:
    async def whole() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            await device.step(0, PROMPT)
            assert not device.protocol.hides
            session = session_of(service, device)
            message = Hide(session.key, 100, session.chain.at(100), HIDDEN)
            error = (await service.handle("local", encode_message(message))).error
            assert error is not None
            assert error.code == "unsupported"

    asyncio.run(whole())


def test_while_a_step_runs_nothing_is_hidden(tiny_path: Path) -> None:
    async def scenario(service: TinySessions, device: Device) -> None:
        session = session_of(service, device)
        message = Hide(session.key, 100, session.chain.at(100), HIDDEN, MESSAGE)
        step = asyncio.create_task(service.handle("local", device.frame(100, [5] * 40)))
        await asyncio.sleep(0)
        error = (await service.handle("local", encode_message(message))).error
        assert error is not None
        assert error.code == "step_conflict"
        device.protocol.receive((await step).frame)
        await hide(device)

    run(tiny_path, scenario)


def test_a_session_that_is_closed_meanwhile_is_gone(tiny_path: Path) -> None:
    async def scenario(service: TinySessions, device: Device) -> None:
        session = session_of(service, device)
        frame = device.protocol.hide(HIDDEN, MESSAGE)
        hiding = asyncio.create_task(service.handle("local", frame))
        await asyncio.sleep(0)
        await service.handle("local", encode_message(Close(session.key)))
        await hiding
        assert not session.running
        assert service.store.bytes == 0 or not session.cache.allocated_bytes

    run(tiny_path, scenario)


def test_memory_for_the_copies_is_asked_for_and_what_is_held_is_counted(tiny_path: Path) -> None:
    async def scenario(service: TinySessions, device: Device) -> None:
        session = session_of(service, device)
        before = session.reserved
        await hide(device)
        assert session.cache.cold_bytes > 0
        assert session.reserved == session.cache.allocated_bytes
        assert session.reserved < 1.3 * before
        await device.step(100, [5, 6])
        assert session.reserved == session.cache.allocated_bytes

    run(tiny_path, scenario)


def test_where_there_is_no_memory_to_copy_into_it_is_refused(tiny_path: Path) -> None:
    backbone = tiny_backbone(tiny_path)
    # Buffers of 128 positions hold the session; its copies want 120.
    size = 144 * backbone.info.kv_bytes_per_position

    async def scenario(service: TinySessions, device: Device) -> None:
        session = session_of(service, device)
        frame = device.protocol.hide(HIDDEN, MESSAGE)
        assert await device.refused(frame) == "cache_full"
        assert session.cache.hidden == ()
        assert session.reserved == session.cache.allocated_bytes
        await device.step(100, [5])

    run(tiny_path, scenario, backbone=backbone, budget=BudgetLimits(size, size))


async def settled(service: TinySessions) -> None:
    kept = service.steps.reuse
    assert kept is not None
    while kept.parking:
        await asyncio.gather(*kept.parking)


def test_what_was_computed_behind_hidden_rows_is_found_by_nobody(tiny_path: Path) -> None:
    more = [200 + i % 40 for i in range(100)]

    async def scenario(service: TinySessions, device: Device) -> None:
        await hide(device)
        await device.step(100, more)
        await device.send(device.protocol.show(((0, 200),)))
        await device.step(200, more)
        await device.close()
        await settled(service)
        for cache in ("exact", "int8"):
            other = Device(service, tiny_path, cache=cache)  # type: ignore[arg-type]
            # To the last row of what it held before anything was hidden, and no further.
            assert await other.reopen([*PROMPT, *more, *more]) == 96
            assert await other.reopen(PROMPT) == 100
            await other.close()

    run(tiny_path, scenario, reuse=reuse())


def test_what_is_known_is_taken_in_behind_hidden_rows_and_is_exact(tiny_path: Path) -> None:
    more = [200 + i % 40 for i in range(100)]

    async def scenario(service: TinySessions, device: Device) -> None:
        other = await Device(service, tiny_path).open()
        await other.step(0, [*PROMPT, *more])
        await other.close()
        await settled(service)
        await hide(device)
        assert await device.restore(100, [*PROMPT, *more]) == 200
        done = await device.step(200, [5])
        assert done.tiers == Inexact(approximate=1)
        hidden = session_of(service, device).cache.hidden
        assert hidden == device.protocol.hidden == HIDDEN
        wanted = masked(tiny_path, [*PROMPT, *more], [5], HIDDEN)
        found = oracle.head(tiny_path, torch.from_numpy(done.hidden.copy()))[0]
        torch.testing.assert_close(found, wanted, atol=2e-4, rtol=1e-4)

    run(tiny_path, scenario, reuse=reuse())


def test_an_audit_does_not_hold_what_sees_less_against_what_is_kept(tiny_path: Path) -> None:
    kept = reuse(share=1.0)

    async def scenario(service: TinySessions, device: Device) -> None:
        other = await Device(service, tiny_path).open()
        more = [200 + i % 40 for i in range(100)]
        await other.step(0, [*PROMPT, *more])
        await hide(device)
        await device.step(100, more)
        assert kept.audit is not None
        assert not kept.audit.counts["failed"]

    run(tiny_path, scenario, reuse=kept)


def test_a_restore_gives_up_what_is_hidden_behind_its_start(tiny_path: Path) -> None:
    async def scenario(service: TinySessions, device: Device) -> None:
        await hide(device)
        await device.restore(50, PROMPT)
        await device.step(device.protocol.cached, [5])
        assert session_of(service, device).cache.hidden == device.protocol.hidden

    run(tiny_path, scenario, reuse=reuse())


def test_a_device_that_gave_up_waiting_shows_all_before_it_hides_again(tiny_path: Path) -> None:
    async def scenario(service: TinySessions, device: Device) -> None:
        protocol: ClientProtocol = device.protocol
        await service.handle("local", protocol.hide(HIDDEN, MESSAGE))
        protocol.give_up()
        assert not protocol.sure
        assert await device.send(protocol.show(((0, 100),))) == SpansHidden(())
        assert protocol.sure
        await hide(device, ((10, 20),))
        assert session_of(service, device).cache.hidden == ((10, 20),)

    run(tiny_path, scenario)
