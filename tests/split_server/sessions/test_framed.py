"""The service: frames in, frames out, over a real engine and tiny checkpoints."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from split_server.sessions import framed_steps
from split_wire.client import ClientProtocol, SessionOpened, StepCompleted
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import Close, Closed, Failure, Open, Ping, Pong, Result, Step
from split_wire.tensor import WIRE_DTYPES, Tensor, WireDtype
from tests import oracle
from tests.engines import (
    Device,
    HeldRunner,
    run,
    serving,
    tiny_backbone,
)

PROMPT = list(range(11, 31))
COUNT = 12


def test_greedy_ids_equal_generate(family_path: Path) -> None:
    async def scenario() -> list[int]:
        async with serving(family_path) as service:
            device = await Device(service, family_path).open()
            return await device.greedy(PROMPT, COUNT)

    assert run(scenario()) == oracle.greedy(family_path, PROMPT, COUNT)


def test_greedy_ids_equal_generate_with_another_session_in_between(family_path: Path) -> None:
    async def scenario() -> tuple[list[int], list[int]]:
        async with serving(family_path) as service:
            one = await Device(service, family_path).open()
            two = await Device(service, family_path).open()
            both = await asyncio.gather(one.greedy(PROMPT, COUNT), two.greedy(PROMPT[::-1], COUNT))
            return tuple(both)

    forward, backward = run(scenario())
    assert forward == oracle.greedy(family_path, PROMPT, COUNT)
    assert backward == oracle.greedy(family_path, PROMPT[::-1], COUNT)


def test_an_edited_conversation_continues_from_its_common_prefix(family_path: Path) -> None:
    edited = [*PROMPT[:9], 40, 41, 42]

    async def scenario() -> list[int]:
        async with serving(family_path) as service:
            device = await Device(service, family_path).open()
            await device.greedy(PROMPT, COUNT)
            return await device.greedy(edited, COUNT, start=9)

    assert run(scenario()) == oracle.greedy(family_path, edited, COUNT)


def test_a_step_sent_again_is_answered_from_memory_and_appended_once(tiny_path: Path) -> None:
    async def scenario() -> None:
        runner = HeldRunner(tiny_backbone(tiny_path))
        runner.gate.release(10)
        async with serving(tiny_path, runner=runner) as service:
            device = await Device(service, tiny_path).open()
            frame = device.frame(0, PROMPT)
            first = await service.handle("local", frame)
            again = await service.handle("local", frame)
            assert first.frame == again.frame
            assert runner.runs == 1

    run(scenario())


def test_a_step_sent_again_while_it_runs_waits_for_the_same_run(tiny_path: Path) -> None:
    async def scenario() -> None:
        runner = HeldRunner(tiny_backbone(tiny_path))
        async with serving(tiny_path, runner=runner) as service:
            device = await Device(service, tiny_path).open()
            frame = device.frame(0, PROMPT)
            first = asyncio.create_task(service.handle("local", frame))
            await asyncio.sleep(0)
            second = asyncio.create_task(service.handle("local", frame))
            await asyncio.sleep(0)
            first.cancel()
            runner.gate.release(5)
            event = device.protocol.receive((await second).frame)
            assert isinstance(event, StepCompleted)
            assert runner.runs == 1

    run(scenario())


def test_other_bytes_under_a_used_number_conflict(tiny_path: Path) -> None:
    async def scenario() -> str:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            frame = device.frame(0, PROMPT)
            await service.handle("local", frame)
            other = Device(service, tiny_path)
            other.protocol._opened = device.protocol.opened
            return await other.refused(other.frame(0, PROMPT[:5]))

    assert run(scenario()) == "step_conflict"


@pytest.mark.parametrize("dtype", WIRE_DTYPES)
def test_a_session_that_wandered_and_came_back_rewritten_is_not_continued(
    tiny_path: Path, dtype: WireDtype
) -> None:
    """The device goes on with a second server, edits there, and returns to the first one."""

    async def scenario() -> str:
        async with serving(tiny_path) as one, serving(tiny_path) as two:
            device = await Device(one, tiny_path, dtype=dtype).open()
            await device.step(0, PROMPT)
            left = device.protocol.opened
            device.service = two
            await device.open()
            rewritten = [*PROMPT[:5], 90, 91, 92]
            await device.step(0, rewritten)
            device.service = one
            device.protocol._opened = replace(device.protocol.opened, session=left.session)
            device.protocol._next_step = 2
            assert await device.refused(device.frame(len(rewritten), [7])) == "prefix_mismatch"
            # The device sends everything again and gets what a fresh run gives; of this server,
            # since another one may have chosen other kernels, with other rounding.
            device.protocol._chain.truncate(0)
            again = await device.step(0, [*rewritten, 7])
            fresh = await Device(one, tiny_path, dtype=dtype).open()
            once = await fresh.step(0, [*rewritten, 7])
            np.testing.assert_array_equal(again.hidden, once.hidden)
            if dtype == "f32":
                best = oracle.greedy(tiny_path, [*rewritten, 7], 1)[0]
                assert device.pick(again.hidden) == best
            return "resent"

    assert run(scenario()) == "resent"


@pytest.mark.parametrize("code", ["unknown_session", "start_beyond_cache"])
def test_refusals_name_their_session_and_step(tiny_path: Path, code: str) -> None:
    async def scenario() -> Failure:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            session = device.protocol.opened.session if code != "unknown_session" else "no such"
            rows = Tensor.from_f32(oracle.embeddings(tiny_path, [1]).numpy(), "f32")
            frame = encode_message(Step(session, 1, 5, bytes(16), rows))
            answer = await service.handle("local", frame)
            assert answer.error is not None
            assert answer.error.code == code
            return decode_server_message(answer.frame, 10_000)

    failure = run(scenario())
    assert (failure.code, failure.step) == (code, 1)


def test_somebody_elses_session_is_unknown_and_stays_usable(tiny_path: Path) -> None:
    async def scenario() -> list[int]:
        async with serving(tiny_path) as service:
            mine = await Device(service, tiny_path, "ann").open()
            ids = await mine.greedy(PROMPT, 2)
            thief = Device(service, tiny_path, "bob")
            thief.protocol._opened = mine.protocol.opened
            assert await thief.refused(thief.frame(0, PROMPT)) == "unknown_session"
            close = encode_message(Close(mine.protocol.opened.session))
            answer = await service.handle("bob", close)
            assert isinstance(decode_server_message(answer.frame, 10_000), Closed)
            return ids + await mine.greedy(PROMPT + ids, 3, start=len(PROMPT) + 1)

    assert run(scenario()) == oracle.greedy(tiny_path, PROMPT, 5)


def test_another_model_behind_the_address_is_named(tiny_path: Path) -> None:
    async def scenario() -> str:
        async with serving(tiny_path) as service:
            answer = await service.handle("local", encode_message(Open("another digest")))
            assert answer.error is not None
            return answer.error.code

    assert run(scenario()) == "model_changed"


def test_another_wire_version_is_refused(tiny_path: Path) -> None:
    async def scenario() -> str:
        async with serving(tiny_path) as service:
            answer = await service.handle("local", encode_message(Open(version=2)))
            assert answer.error is not None
            return answer.error.code

    assert run(scenario()) == "unsupported_version"


def test_ping_is_answered(tiny_path: Path) -> None:
    async def scenario() -> Any:
        async with serving(tiny_path) as service:
            answer = await service.handle("local", encode_message(Ping()))
            return decode_server_message(answer.frame, 1000)

    assert run(scenario()) == Pong()


def test_hidden_states_travel_in_the_dtype_that_open_asked_for(tiny_path: Path) -> None:
    async def scenario() -> tuple[str, StepCompleted]:
        async with serving(tiny_path) as service:
            device = Device(service, tiny_path)
            device.protocol = ClientProtocol(64, "manifest-of-the-test", "f16")
            event = await device.send(device.protocol.open())
            assert isinstance(event, SessionOpened)
            return event.opened.dtype, await device.step(0, PROMPT)

    dtype, step = run(scenario())
    assert dtype == "f16"
    torch.testing.assert_close(
        oracle.head(Path(tiny_path), torch.from_numpy(step.hidden.copy()))[0],
        oracle.logits(tiny_path, PROMPT)[-1],
        atol=0.2,
        rtol=0.05,
    )


def test_a_large_step_whose_sender_left_while_it_was_admitted_still_runs(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, backbone=tiny_backbone(tiny_path)) as service:
            device = await Device(service, tiny_path).open()
            # Above the size that is admitted on a thread: 512 rows of 64 values would be too few.
            frame = device.frame(0, PROMPT)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(framed_steps, "_LARGE_FRAME", 1)
                left = asyncio.create_task(service.handle("local", frame))
                await asyncio.sleep(0)
                left.cancel()
                event = await device.send(frame)
            assert isinstance(event, StepCompleted)

    run(scenario())


def test_a_result_names_the_cache_it_belongs_to(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            answer = await service.handle("local", device.frame(0, PROMPT))
            result = decode_server_message(answer.frame, 10_000)
            assert isinstance(result, Result)
            device.protocol.receive(answer.frame)
            assert result.prefix == device.protocol._chain.at(len(PROMPT))

    run(scenario())
