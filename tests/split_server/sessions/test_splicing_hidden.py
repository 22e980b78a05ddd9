"""An edit of a prompt of which parts are hidden: the session holds what it says it does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import torch
from transformers import DynamicCache

from split_server.kv.cache import buffered
from split_wire.hiding.spans import Spans
from tests import oracle
from tests.engines import Device, serving
from tests.split_server.sessions.test_splicing import (
    BETWEEN,
    EDIT,
    END,
    PROMPT,
    ROWS,
    SPANS,
    options,
    prompted,
)

# The first lies in front of the edit and stays hidden, the others move with their rows.
HIDDEN: Spans = ((8, 16), (30, 50), (70, 72))
LEFT: Spans = ((8, 16),)


def expected(path: Path) -> torch.Tensor:
    """The state of the last row by Hugging Face: new rows do not see what is left hidden, rows that
    move were computed when nothing was.
    """
    held = DynamicCache()
    _run(path, PROMPT[:20], 0, held, ())
    hidden = _run(path, EDIT, 20, held, LEFT)
    for span, rows in zip(SPANS, (BETWEEN, PROMPT[:3]), strict=True):
        _run(path, PROMPT, span.new - span.old, old := DynamicCache(), ())
        part = slice(span.old, span.old + span.rows)
        for mine, there in zip(held.layers, old.layers, strict=True):
            mine.keys = torch.cat((mine.keys, there.keys[:, :, part]), 2)
            mine.values = torch.cat((mine.values, there.values[:, :, part]), 2)
        hidden = _run(path, rows, span.new + span.rows, held, LEFT)
    return hidden


def _run(path: Path, ids: list[int], start: int, held: DynamicCache, hidden: Spans) -> torch.Tensor:
    mask = torch.ones(1, held.get_seq_length() + len(ids), dtype=torch.long)
    for first, end in hidden:
        mask[:, first:end] = 0
    with torch.inference_mode():
        passed = oracle.model(path).model(
            inputs_embeds=oracle.embeddings(path, ids)[None],
            attention_mask=mask,
            position_ids=torch.arange(start, start + len(ids))[None],
            past_key_values=held,
            use_cache=True,
        )
    state: torch.Tensor = passed.last_hidden_state[0, -1]
    return state


async def hiding(path: Path, device: Device) -> None:
    await device.send(device.protocol.hide(HIDDEN))
    assert device.protocol.hidden == HIDDEN


def test_rows_move_as_they_are_and_what_lies_before_the_edit_stays_hidden(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, spans=True, **options(tiny_path)) as service:
            device = await prompted(service, tiny_path)
            await hiding(tiny_path, device)
            found = await device.splice(20, SPANS, ROWS)
            opened = device.protocol.opened
            assert opened is not None
            session = service.store.get(device.principal, opened.session)
            assert device.protocol.hidden == session.cache.hidden == LEFT
            cache = buffered(session.cache)
            assert cache.length == found.cached == END
            difference = torch.from_numpy(found.hidden[-1].copy()) - expected(tiny_path)
            assert difference.norm() / expected(tiny_path).norm() < 1e-4
            # Below the edit, with nothing hidden, all is exact again.
            await device.send(device.protocol.show(((0, END),)))
            ids = [*PROMPT[:20], 7]
            assert await device.greedy(ids, 4, start=8) == oracle.greedy(tiny_path, ids, 4)

    asyncio.run(scenario())


def test_nothing_of_it_is_kept_under_an_exact_name(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, spans=True, **options(tiny_path)) as service:
            device = await prompted(service, tiny_path)
            await hiding(tiny_path, device)
            await device.splice(20, SPANS, ROWS)
            await device.step(END, [5, 6])
            await device.close()
            reuse = service.steps.reuse
            assert reuse is not None
            await asyncio.gather(*reuse.parking)
            exact = await Device(service, tiny_path).open()
            ids = [*PROMPT[:20], *EDIT, *PROMPT[28:58], 5]
            assert await exact.greedy(ids, 4, start=0) == oracle.greedy(tiny_path, ids, 4)

    asyncio.run(scenario())
