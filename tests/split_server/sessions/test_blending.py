"""Edits of which a share of what is kept is computed anew: which rows, and what fails."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import DynamicCache

from split_server.engine.model.blending import Blending
from split_server.engine.model.runner import ModelRunner
from split_server.sessions.admission.blends import positions_anew
from split_server.sessions.admission.request import SpliceRequest
from split_wire.client.events import StepCompleted
from split_wire.frame import Frame, encode_frame
from split_wire.splice import Kept, blended, spans_value
from split_wire.tensor import Tensor
from split_wire.tiers import Inexact
from tests import oracle
from tests.checkpoints import ALL_FAMILIES
from tests.engines import Device, serving
from tests.split_server.sessions.test_splicing import (
    END,
    PROMPT,
    SPANS,
    WANTED,
    options,
    prompted,
    splicing,
)
from tests.split_server.sessions.test_splicing_hidden import LEFT
from tests.split_server.sessions.test_splicing_hidden import _run as run


def blending(path: Path, **others: Any) -> dict[str, Any]:
    """Of a service that blends."""
    made = options(path, **others)
    return {**made, "blending": Blending(made["backbone"])}


async def spliced(device: Device, blend: float, spans: list[Kept] = SPANS) -> Any:
    """The answer to the edit, with the rows of all positions behind its start."""
    rows = oracle.embeddings(device.path, WANTED[20:]).numpy()
    event = await device.send(device.protocol.splice(20, spans, rows, blend))
    assert isinstance(event, StepCompleted), event
    return event


def off(found: Any, right: torch.Tensor) -> float:
    return float((torch.from_numpy(found[-1].copy()) - right).norm() / right.norm())


def plain(path: Path) -> torch.Tensor:
    """The state behind all that is wanted, as Hugging Face computes it."""
    with torch.inference_mode():
        passed = oracle.model(path).model(inputs_embeds=oracle.embeddings(path, WANTED)[None])
    state: torch.Tensor = passed.last_hidden_state[0, -1]
    return state


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_rows_that_are_all_computed_anew_are_the_plain_ones(
    family: str, tiny_family: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tiny_family(family)
    # Also in pieces.
    monkeypatch.setattr("split_server.engine.model.blending._SCORES_AT_ONCE", 11 * END)
    everything = "split_server.sessions.admission.blends.blended"
    monkeypatch.setattr(everything, lambda spans, _: sum(span.rows for span in spans))

    async def scenario() -> tuple[Any, Any]:
        async with serving(path, **blending(path)) as service:
            device = await prompted(service, path)
            found = await spliced(device, 0.5)
            return found, await device.step(END, [7])

    found, later = asyncio.run(scenario())
    assert found.cached == END == len(WANTED)
    assert off(found.hidden, plain(path)) < 1e-4
    # What it stands on came there by an edit all the same.
    assert found.tiers == Inexact(approximate=END - 25)
    assert later.tiers == Inexact(approximate=END + 1 - 25)


def test_what_lies_behind_the_rows_of_a_message_is_moved_and_blended_by_the_next(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = "split_server.sessions.admission.blends.blended"
    monkeypatch.setattr(everything, lambda spans, _: sum(span.rows for span in spans))

    async def scenario() -> tuple[Any, Any]:
        async with serving(tiny_path, **blending(tiny_path)) as service:
            device = await prompted(service, tiny_path)
            rows = oracle.embeddings(tiny_path, WANTED[20:]).numpy()
            # Up to position 40; all that was behind follows right there.
            spans = [Kept(28, 25, 15), Kept(43, 40, 57)]
            first = await device.send(device.protocol.splice(20, spans, rows[:20], 0.5))
            spans = [Kept(40, 40, 15), Kept(59, 59, 38)]
            second = await device.send(device.protocol.splice(40, spans, rows[20:], 0.5))
            return first, second

    first, second = asyncio.run(scenario())
    assert (first.cached, second.cached) == (97, END)
    assert off(second.hidden, plain(tiny_path)) < 1e-4


def test_those_that_are_computed_anew_come_nearer_to_the_plain_ones(tiny_path: Path) -> None:
    async def scenario() -> tuple[list[float], dict[str, int]]:
        async with serving(tiny_path, **blending(tiny_path)) as service:
            found = []
            for blend in (0.001, 0.15, 0.5):
                device = await prompted(service, tiny_path)
                answer = await spliced(device, blend)
                found.append(off(answer.hidden, plain(tiny_path)))
                await device.close()
            return found, dict(splicing(service).positions)

    found, positions = asyncio.run(scenario())
    assert found[2] < found[0]
    assert all(map(math.isfinite, found))
    anew = [blended(SPANS, blend) for blend in (0.001, 0.15, 0.5)]
    assert anew == [1, 11, 34]
    assert positions.pop("documents") == 0
    assert positions == {"moved": 3 * 68 - sum(anew), "blended": sum(anew), "computed": 3 * 12}


def test_the_furthest_rows_are_picked_and_no_number_is_the_furthest() -> None:
    rows = Tensor.from_f32(torch.zeros(10, 2).numpy(), "f32")
    edit = SpliceRequest(5, (Kept(6, 7, 3), Kept(10, 11, 4)), rows, 0.3)
    away = torch.tensor([9.0, 9, 0, 3, 1, 9, 2, math.inf, 2, 0])
    # Positions that are brought: 5, 6, 10; of the kept ones three of seven.
    assert positions_anew(edit, away) == [5, 6, 8, 10, 11, 12]
    flat = torch.zeros(10)
    assert positions_anew(edit, flat) == [5, 6, 7, 8, 9, 10]


@pytest.mark.parametrize("blend", [math.nan, math.inf, -0.1, 0.6, "0.15", True, [0.1]])
def test_another_share_is_malformed_and_changes_nothing(tiny_path: Path, blend: object) -> None:
    async def scenario() -> tuple[str, list[int]]:
        async with serving(tiny_path, **blending(tiny_path)) as service:
            device = await prompted(service, tiny_path)
            code = await refusal(service, device, blend)
            return code, await device.greedy(PROMPT, 3, start=len(PROMPT) - 1)

    code, ids = asyncio.run(scenario())
    assert code in ("malformed_message", "malformed_frame")
    assert ids == oracle.greedy(tiny_path, PROMPT, 3)


async def refusal(
    service: Any, device: Device, blend: object, rows: int = END - 20, spans: Any = SPANS
) -> str:
    """The code with which a message is refused that the device would not send."""
    opened = device.protocol.opened
    assert opened is not None
    tensor = Tensor.from_f32(oracle.embeddings(device.path, [5] * rows).numpy(), "f32")
    name = device.chain(PROMPT).at(20)
    said = {"session": opened.session, "step": 2, "start": 20, "prefix": name, "blend": blend}
    header = {"type": "splice", **said, "spans": spans_value(spans)}
    answer = await service.handle("local", encode_frame(Frame(header, {"embeddings": tensor})))
    assert answer.error is not None
    code: str = answer.error.code
    return code


def test_rows_that_do_not_reach_behind_what_is_kept_are_malformed(tiny_path: Path) -> None:
    async def scenario() -> list[str]:
        async with serving(tiny_path, **blending(tiny_path)) as service:
            device = await prompted(service, tiny_path)
            return [await refusal(service, device, 0.2, rows) for rows in (1, 12, END - 24)]

    assert asyncio.run(scenario()) == ["malformed_message"] * 3


def test_a_server_without_it_offers_and_takes_none(tiny_path: Path) -> None:
    async def scenario() -> tuple[bool, str]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            device = await prompted(service, tiny_path)
            return device.protocol.blends, await refusal(service, device, 0.2)

    assert asyncio.run(scenario()) == (False, "unsupported")


def test_rows_that_are_hidden_before_an_edit_are_not_seen_by_what_it_computes(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = "split_server.sessions.admission.blends.blended"
    monkeypatch.setattr(everything, lambda spans, _: sum(span.rows for span in spans))

    async def scenario() -> Any:
        async with serving(tiny_path, **blending(tiny_path), spans=True) as service:
            device = await prompted(service, tiny_path)
            await device.send(device.protocol.hide(((8, 16), (30, 50))))
            found = await spliced(device, 0.3)
            [session] = service.store._sessions.values()
            assert session.cache.hidden == LEFT
            return found

    held = DynamicCache()
    run(tiny_path, PROMPT[:20], 0, held, ())
    right = run(tiny_path, WANTED[20:], 20, held, LEFT)
    found = asyncio.run(scenario())
    assert off(found.hidden, right) < 1e-4
    assert found.tiers == Inexact(approximate=END - 20)


@pytest.mark.parametrize("family", ["llama", "gemma2", "cohere2"])
def test_many_pieces_are_computed_in_one_pass_and_the_same(
    family: str, tiny_family: Callable[[str], Path]
) -> None:
    path = tiny_family(family)
    # Every fourth row of what is kept is another one.
    spans = [Kept(24 + 4 * i, 24 + 4 * i, 3) for i in range(15)]
    ids = [*range(40, 44), *range(60, 75)]

    async def scenario(made: dict[str, Any]) -> tuple[Any, Any, int]:
        runner = Counting(made["backbone"])
        async with serving(path, runner=runner, **made) as service:
            device = await prompted(service, path)
            before = runner.passes
            found = await device.splice(20, spans, ids)
            return found, await device.step(found.cached, [7]), runner.passes - before

    apart, later_apart, passes_apart = asyncio.run(scenario(options(path)))
    together, later, passes = asyncio.run(scenario(blending(path)))
    assert (passes_apart, passes) == (17, 1)
    assert together.tiers == apart.tiers
    for one, other in ((together, apart), (later, later_apart)):
        assert off(one.hidden, torch.from_numpy(other.hidden[-1].copy())) < 1e-4


class Counting(ModelRunner):
    """Counts the passes of steps."""

    passes = 0

    def run(self, slices: Any) -> list[torch.Tensor]:
        self.passes += 1
        return super().run(slices)


@pytest.mark.parametrize("which", [1, 2, 3])
def test_one_that_fails_leaves_what_comes_before_it_exactly(tiny_path: Path, which: int) -> None:
    class Failing(Blending):
        """Fails at some pass."""

        passes = 0

        def _pass(self, *parts: Any) -> torch.Tensor:
            self.passes += 1
            if self.passes == which:
                raise RuntimeError("of the test")
            return super()._pass(*parts)

    async def scenario() -> tuple[Any, Any, list[int]]:
        made = options(tiny_path)
        failing = Failing(made["backbone"])
        failing.at_once = lambda rows, _: min(rows, 50)  # type: ignore[method-assign]
        async with serving(tiny_path, **made, blending=failing) as service:
            device = await prompted(service, tiny_path)
            rows = oracle.embeddings(tiny_path, WANTED[20:]).numpy()
            code = await device.refused(device.protocol.splice(20, SPANS, rows, 0.15))
            [session] = service.store._sessions.values()
            held = session.cache.length, len(session.chain), session.cache.lineage.tier
            device.protocol._chain.truncate(20)
            return code, held, await device.greedy(PROMPT, 3, start=20)

    code, held, ids = asyncio.run(scenario())
    assert (code, held) == ("internal_error", (20, 20, "exact"))
    assert ids == oracle.greedy(tiny_path, PROMPT, 3)
