"""Edits inside a prompt: what is held afterwards, what is told of it, and what goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import DynamicCache

from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.trials.rotation import key_rotation
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.memory.budget import BudgetLimits
from split_server.sessions.reuse import Reuse
from split_wire.codec import encode_message
from split_wire.messages import Splice
from split_wire.splice import Kept
from split_wire.tensor import Tensor
from split_wire.tiers import TIERS, Inexact
from tests import oracle
from tests.checkpoints import ALL_FAMILIES
from tests.engines import Device, HeldRunner, TinySessions, serving, tiny_backbone

PROMPT = [11 + i % 60 for i in range(100)]
EDIT = [200, 201, 202, 203, 204]
# A line of eight tokens at 20 becomes one of five, and of what follows two pieces are kept.
SPANS = [Kept(28, 25, 30), Kept(62, 59, 38)]
BETWEEN = PROMPT[58:62]
WANTED = [*PROMPT[:20], *EDIT, *PROMPT[28:], *PROMPT[:3]]
ROWS = [*EDIT, *BETWEEN, *PROMPT[:3]]
END = 20 + len(ROWS) + 68


def options(path: Path, **others: Any) -> dict[str, Any]:
    """Of a service that splices."""
    backbone = tiny_backbone(path)
    reuse = Reuse(RunPool(PoolLimits()), Namespaces("of the test"), tiers=TIERS)
    return {"backbone": backbone, "reuse": reuse, "rotation": key_rotation(backbone), **others}


async def prompted(service: TinySessions, path: Path, **who: Any) -> Device:
    """A device whose session holds the prompt."""
    device = await Device(service, path, **{"cache": "approximate", **who}).open()
    await device.step(0, PROMPT)
    return device


def expected(path: Path) -> torch.Tensor:
    """The state of the last row as Hugging Face gives it, behind rows that a run of the old prompt
    from an earlier or later position has computed: ropes are relative, so nothing but the places of
    keys depends on where a prompt begins.
    """
    held = DynamicCache()
    _run(path, PROMPT[:20], 0, held)
    hidden = _run(path, EDIT, 20, held)
    for span, rows in zip(SPANS, (BETWEEN, PROMPT[:3]), strict=True):
        _run(path, PROMPT, span.new - span.old, old := DynamicCache())
        part = slice(span.old, span.old + span.rows)
        for mine, there in zip(held.layers, old.layers, strict=True):
            mine.keys = torch.cat((mine.keys, there.keys[:, :, part]), 2)
            mine.values = torch.cat((mine.values, there.values[:, :, part]), 2)
        hidden = _run(path, rows, span.new + span.rows, held)
    return hidden


def _run(path: Path, ids: list[int], start: int, held: DynamicCache) -> torch.Tensor:
    """The final-norm state of the last of ``ids``, from position ``start`` on."""
    with torch.inference_mode():
        passed = oracle.model(path).model(
            inputs_embeds=oracle.embeddings(path, ids)[None],
            position_ids=torch.arange(start, start + len(ids))[None],
            past_key_values=held,
            use_cache=True,
        )
    state: torch.Tensor = passed.last_hidden_state[0, -1]
    return state


def _off(found: Any, right: torch.Tensor) -> float:
    return float((torch.from_numpy(found[-1].copy()) - right).norm() / right.norm())


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_what_is_moved_is_attended_to_at_its_new_place(
    family: str, tiny_family: Callable[[str], Path]
) -> None:
    path = tiny_family(family)

    async def scenario() -> Any:
        async with serving(path, **options(path)) as service:
            device = await prompted(service, path)
            return await device.splice(20, SPANS, ROWS)

    found = asyncio.run(scenario())
    assert found.cached == END == len(WANTED)
    assert found.tiers == Inexact(approximate=END - 25)
    assert _off(found.hidden, expected(path)) < 1e-4


def test_what_is_computed_on_top_is_approximate_until_it_is_cut_off(family_path: Path) -> None:
    async def scenario() -> tuple[Any, ...]:
        async with serving(family_path, **options(family_path)) as service:
            device = await prompted(service, family_path)
            await device.splice(20, SPANS, ROWS)
            on_top = await device.step(END, [5, 6])
            exact = await device.step(25, [7])
            # In front of what is moved lies nothing but what was computed plainly.
            ids = await device.greedy([*WANTED[:25], 7, 8], 4, start=26)
            return on_top.tiers, exact.tiers, ids

    on_top, exact, ids = asyncio.run(scenario())
    assert on_top == Inexact(approximate=END + 2 - 25)
    assert exact == Inexact()
    assert ids == oracle.greedy(family_path, [*WANTED[:25], 7, 8], 4)


def test_a_splice_that_is_sent_again_is_answered_and_not_made_again(tiny_path: Path) -> None:
    async def scenario() -> tuple[bytes, bytes, dict[str, int]]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            device = await prompted(service, tiny_path)
            rows = oracle.embeddings(tiny_path, ROWS).numpy()
            frame = device.protocol.splice(20, SPANS, rows)
            first, second = await asyncio.gather(
                service.handle("local", frame), service.handle("local", frame)
            )
            third = await service.handle("local", frame)
            assert third.frame == first.frame
            return first.frame, second.frame, dict(splicing(service).outcomes)

    first, second, outcomes = asyncio.run(scenario())
    assert first == second
    assert outcomes == {"done": 1, "failed": 0}


def splicing(service: TinySessions) -> Any:
    found = service.steps.splicing
    assert found is not None
    return found


def test_only_a_session_that_takes_approximate_rows_is_offered_them(tiny_path: Path) -> None:
    async def scenario() -> list[Any]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            found = list[Any]()
            for cache in ("exact", "int8", "off"):
                device = await prompted(service, tiny_path, cache=cache)
                assert not device.protocol.splices
                found.append(await refusal(service, device, SPANS))
                found.append((await device.step(len(PROMPT), [1])).tiers)
            return found

    assert asyncio.run(scenario()) == ["unsupported", Inexact()] * 3


async def refusal(service: TinySessions, device: Device, spans: list[Kept], rows: int = 12) -> str:
    """The code with which a splice is refused that the device's own protocol would not send."""
    opened = device.protocol.opened
    assert opened is not None
    tensor = Tensor.from_f32(oracle.embeddings(device.path, ROWS[:1] * rows).numpy(), "f32")
    name = device.chain(PROMPT).at(20)
    message = Splice(opened.session, 2, 20, name, tensor, spans=tuple(spans))
    answer = await service.handle("local", encode_message(message))
    assert answer.error is not None
    return answer.error.code


@pytest.mark.parametrize(
    ("spans", "code"),
    [
        ([], "malformed_message"),
        ([Kept(28, 25, 0)], "malformed_message"),
        ([Kept(19, 25, 3)], "malformed_message"),
        ([Kept(28, 19, 3)], "malformed_message"),
        ([Kept(28, 25, 30), Kept(57, 60, 3)], "malformed_message"),
        ([Kept(28, 25, 30), Kept(60, 54, 3)], "malformed_message"),
        ([Kept(62, 59, 38), Kept(28, 97, 3)], "malformed_message"),
        ([Kept(28, 33, 3)], "malformed_message"),
        ([Kept(28, 25, 73)], "start_beyond_cache"),
        ([Kept(28, 25, 2**53 - 1)], "context_overflow"),
        ([Kept(28 + i, 25 + i, 1) for i in range(1025)], "malformed_frame"),
    ],
)
def test_spans_that_do_not_fit_change_nothing(
    tiny_path: Path, spans: list[Kept], code: str
) -> None:
    async def scenario() -> tuple[str, list[int]]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            device = await prompted(service, tiny_path)
            found = await refusal(service, device, spans, rows=7)
            return found, await device.greedy(PROMPT, 3, start=len(PROMPT) - 1)

    found, ids = asyncio.run(scenario())
    assert found == code
    assert ids == oracle.greedy(tiny_path, PROMPT, 3)


class Failing(ModelRunner):
    """Fails the passes with some numbers."""

    fails: tuple[int, ...] = ()
    passes = 0

    def run(self, slices: Any) -> list[torch.Tensor]:
        self.passes += 1
        if self.passes in self.fails:
            raise RuntimeError("of the test")
        return super().run(slices)


@pytest.mark.parametrize("which", [1, 2, 3])
def test_a_splice_that_fails_leaves_what_comes_before_it_exactly(
    tiny_path: Path, which: int
) -> None:
    async def scenario() -> tuple[Any, Any, list[int]]:
        made = options(tiny_path)
        runner = Failing(made["backbone"])
        async with serving(tiny_path, runner=runner, **made) as service:
            device = await prompted(service, tiny_path)
            runner.fails = (runner.passes + which,)
            code = await device.refused(
                device.protocol.splice(20, SPANS, oracle.embeddings(tiny_path, ROWS).numpy())
            )
            [session] = service.store._sessions.values()
            held = session.cache.length, len(session.chain), session.cache.lineage.tier
            device.protocol._chain.truncate(20)
            return code, held, await device.greedy(PROMPT, 3, start=20)

    code, held, ids = asyncio.run(scenario())
    assert (code, held) == ("internal_error", (20, 20, "exact"))
    assert ids == oracle.greedy(tiny_path, PROMPT, 3)


def test_a_splice_for_which_there_is_no_memory_changes_nothing(tiny_path: Path) -> None:
    async def scenario() -> tuple[str, list[int]]:
        made = options(tiny_path)
        size = made["backbone"].info.kv_bytes_per_position
        # The cache itself has room, what is lifted out of it has none.
        budget = BudgetLimits(180 * size, 180 * size)
        async with serving(tiny_path, budget=budget, **made) as service:
            device = await prompted(service, tiny_path)
            code = await device.refused(
                device.protocol.splice(20, SPANS, oracle.embeddings(tiny_path, ROWS).numpy())
            )
            return code, await device.greedy(PROMPT, 3, start=len(PROMPT) - 1)

    code, ids = asyncio.run(scenario())
    assert code == "cache_full"
    assert ids == oracle.greedy(tiny_path, PROMPT, 3)


def test_a_session_that_is_closed_within_a_splice_ends(tiny_path: Path) -> None:
    async def scenario() -> tuple[str, int]:
        made = options(tiny_path)
        runner = HeldRunner(made["backbone"])
        async with serving(tiny_path, runner=runner, **made) as service:
            runner.gate.release()
            device = await prompted(service, tiny_path)
            rows = oracle.embeddings(tiny_path, ROWS).numpy()
            answer = asyncio.create_task(
                service.handle("local", device.protocol.splice(20, SPANS, rows))
            )
            # Of the prompt, and of the first gap.
            for _ in range(2):
                await asyncio.to_thread(runner.begun.acquire)
            [session] = service.store._sessions.values()
            await device.close()
            runner.gate.release(3)
            refused = await answer
            assert refused.error is not None
            await service.steps.tasks.drain()
            return refused.error.code, session.running

    assert asyncio.run(scenario()) == ("unknown_session", 0)


def test_what_stands_on_moved_rows_is_not_kept(
    tiny_path: Path,
) -> None:
    async def scenario() -> dict[str, int]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            device = await prompted(service, tiny_path)
            await device.splice(20, SPANS, ROWS)
            await device.step(END, [*range(5, 45)])
            await device.close()
            reuse = service.steps.reuse
            assert reuse is not None
            while reuse.parking:
                await asyncio.gather(*reuse.parking)
            assert not reuse.pool.bytes_of("approximate")
            found = {}
            for cache in ("exact", "int8", "approximate"):
                other = Device(service, tiny_path, cache=cache)
                found[cache] = await other.reopen([*WANTED, *range(5, 45)])
            return found

    # What is the same from the beginning was computed plainly, and is kept as whole numbers here.
    assert asyncio.run(scenario()) == {"exact": 0, "int8": 16, "approximate": 16}


def test_positions_are_counted_by_what_became_of_them(tiny_path: Path) -> None:
    async def scenario() -> tuple[Any, ...]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            device = await prompted(service, tiny_path)
            await device.splice(20, SPANS, ROWS)
            reuse = service.steps.reuse
            assert reuse is not None
            return splicing(service).positions, reuse.taken["spliced"], reuse.taken_tiers

    positions, taken, tiers = asyncio.run(scenario())
    assert positions == {"moved": 68, "computed": len(ROWS), "blended": 0, "documents": 0}
    assert (taken, tiers["approximate"]) == (68, 68)
