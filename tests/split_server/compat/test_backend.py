"""The decode loop beside the engine: the same tokens as generate, without a network."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from split_client.errors import Cancelled
from split_client.generation.backend import CacheLost
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_client.generation.loop import Limits, TokenEvent, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from split_client.model.tokenizer import ModelTokenizer
from split_server.compat.backend import EngineBackend
from split_server.sessions.making_way import StoreLimits
from split_wire.attention import AttentionRequest
from split_wire.errors import AttentionTooLarge, ContextOverflow, ShuttingDown
from tests import oracle
from tests.engines import HeldRunner, TinySessions, run, serving, tiny_backbone
from tests.patience import PATIENCE

PROMPT = list(range(11, 31))
COUNT = 12


def embed(path: Path, ids: list[int]) -> NDArray[np.float32]:
    values: NDArray[np.float32] = oracle.embeddings(path, ids).numpy()
    return values


def exact_head(path: Path, folder: Path) -> ExactLMHead:
    weight = oracle.model(path).get_output_embeddings().weight.detach().numpy()
    (folder / "rows").write_bytes(weight.astype("<f4").tobytes())
    rows = WeightRows.open(folder / "rows", "f32", *weight.shape)
    return ExactLMHead.open(rows, HeadSpec(), screen_path=None)


def greedy(
    sequence: Sequence, head: ExactLMHead, path: Path, prompt: list[int], count: int
) -> list[int]:
    tokenizer = ModelTokenizer.open(path / "tokenizer.json", 1000)
    limits = Limits(frozenset({0, 2}), count)
    sampler = Sampler(head, SamplingParams(temperature=0.0, seed=0))
    events = decode(sequence, sampler, tokenizer, prompt, limits)
    return [event.token for event in events if isinstance(event, TokenEvent)]


def beside(path: Path, work: Callable[[EngineBackend, TinySessions], Any], **options: Any) -> Any:
    """What ``work`` returns on a thread beside a running service."""

    async def main() -> Any:
        async with serving(path, **options) as service:
            backend = EngineBackend(service.in_process, asyncio.get_running_loop(), "local")
            return await asyncio.to_thread(work, backend, service)

    return run(main())


def test_greedy_ids_equal_generate_also_after_a_rollback(family_path: Path, tmp_path: Path) -> None:
    head = exact_head(family_path, tmp_path)
    edited = [*PROMPT[:7], 50, 51]

    def work(backend: EngineBackend, _: TinySessions) -> int:
        sequence = Sequence(backend, lambda ids: embed(family_path, ids))
        for prompt in (PROMPT, edited, PROMPT):
            ids = greedy(sequence, head, family_path, prompt, COUNT)
            assert ids == oracle.greedy(family_path, prompt, COUNT)
        return sequence.counters.rows_reused

    assert beside(family_path, work) > 0


def test_a_cache_that_was_given_up_for_another_session_is_reported_and_built_again(
    tiny_path: Path,
) -> None:
    def work(backend: EngineBackend, service: TinySessions) -> None:
        before = backend.step(0, embed(tiny_path, PROMPT)).hidden
        other = EngineBackend(service.in_process, backend._loop, "local")
        other.step(0, embed(tiny_path, [5]))
        with pytest.raises(CacheLost):
            backend.step(len(PROMPT), embed(tiny_path, [5]))
        assert np.array_equal(backend.step(0, embed(tiny_path, PROMPT)).hidden, before)

    beside(tiny_path, work, limits=StoreLimits(max_sessions=1))


def test_a_start_beyond_the_cache_means_that_the_cache_is_lost(tiny_path: Path) -> None:
    def work(backend: EngineBackend, _: TinySessions) -> None:
        with pytest.raises(CacheLost):
            backend.step(1, embed(tiny_path, [5]))

    beside(tiny_path, work)


def test_more_positions_than_the_context_are_refused(tiny_path: Path) -> None:
    def work(backend: EngineBackend, _: TinySessions) -> None:
        with pytest.raises(ContextOverflow):
            backend.step(0, embed(tiny_path, [5] * 513))

    beside(tiny_path, work)


def test_attention_beyond_its_bound_is_refused_before_the_step_runs(tiny_path: Path) -> None:
    def work(backend: EngineBackend, service: TinySessions) -> None:
        with pytest.raises(AttentionTooLarge):
            backend.step(0, embed(tiny_path, PROMPT), AttentionRequest())
        assert len(service.store) == 1

    limit = "split_server.sessions.admission.entrance.attention_bytes"
    with pytest.MonkeyPatch.context() as patch:

        def refuse(*_: Any) -> int:
            raise AttentionTooLarge(2, 1)

        patch.setattr(limit, refuse)
        beside(tiny_path, work)


def test_closing_frees_the_session(tiny_path: Path) -> None:
    def work(backend: EngineBackend, service: TinySessions) -> TinySessions:
        backend.step(0, embed(tiny_path, PROMPT))
        assert len(service.store) == 1
        closed = threading.Event()
        backend.close()
        # The loop runs what it was given in order.
        backend._call(closed.set)
        assert closed.wait(PATIENCE)
        assert len(service.store) == 0
        return service

    beside(tiny_path, work)


def test_a_cancelled_step_that_waits_for_its_turn_is_dropped(tiny_path: Path) -> None:
    backbone = tiny_backbone(tiny_path)
    held = HeldRunner(backbone)

    def work(backend: EngineBackend, service: TinySessions) -> None:
        other = EngineBackend(service.in_process, backend._loop, "local")
        failures: list[BaseException] = []

        def wait() -> None:
            try:
                backend.step(0, embed(tiny_path, PROMPT))
            except Cancelled as cancelled:
                failures.append(cancelled)

        waiting = threading.Thread(target=wait)
        backend.cancelled.set()
        waiting.start()
        held.gate.release(2)
        other.step(0, embed(tiny_path, [5]))
        waiting.join(20)
        assert len(failures) == 1

    beside(tiny_path, work, backbone=backbone, runner=held)


def test_a_server_that_stops_refuses_the_next_step(tiny_path: Path) -> None:
    def work(backend: EngineBackend, service: TinySessions) -> None:
        backend.step(0, embed(tiny_path, PROMPT))
        service.steps._stopping = True
        with pytest.raises(ShuttingDown):
            backend.step(len(PROMPT), embed(tiny_path, [5]))

    beside(tiny_path, work)


@pytest.mark.parametrize("rows", [1, 2, 5, len(PROMPT)])
def test_states_of_the_last_rows_are_those_of_the_model(tiny_path: Path, rows: int) -> None:
    def work(backend: EngineBackend, _: TinySessions) -> NDArray[np.float32]:
        return backend.step(0, embed(tiny_path, PROMPT), rows=rows).hidden

    hidden = torch.from_numpy(beside(tiny_path, work).copy())
    wanted = oracle.logits(tiny_path, PROMPT)[-rows:]
    torch.testing.assert_close(oracle.head(tiny_path, hidden), wanted, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("first", ["session", "leaving"])
def test_a_session_that_is_opened_as_its_request_leaves_is_closed(
    tiny_path: Path, first: str
) -> None:
    def work(backend: EngineBackend, service: TinySessions) -> int:
        given_up, opened = threading.Event(), backend._sessions.opened
        call = backend._call

        async def leaving(*arguments: Any) -> Any:
            session = await opened(*arguments)
            backend.cancelled.set()
            return session

        def noted(give_up: Callable[[], None]) -> None:
            call(give_up)
            given_up.set()

        if first == "leaving":
            # The loop comes to nothing of it before the request has left.
            backend.cancelled.set()
            backend._call = noted  # type: ignore[method-assign]
            backend._loop.call_soon_threadsafe(given_up.wait, PATIENCE)
        else:
            backend._sessions.opened = leaving  # type: ignore[method-assign]
        with suppress(Cancelled):
            backend.open()
        backend.close()
        done = threading.Event()
        # Twice: the session's own steps on the loop are behind the first.
        for _ in range(2):
            done.clear()
            backend._loop.call_soon_threadsafe(done.set)
            assert done.wait(PATIENCE)
        return len(service.store)

    assert beside(tiny_path, work) == 0
