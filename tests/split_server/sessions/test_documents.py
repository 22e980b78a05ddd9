"""Chunks of texts: found by what they say, at any place, by those alone who may, and forgotten."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import DynamicCache

from split_server.engine.model.trials.rotation import key_rotation
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.cache_groups import CacheGroups, group_text
from split_server.sessions.keeping.approximate import ApproximateAudit
from split_server.sessions.reuse import Reuse
from split_wire.client import ChunksFound
from split_wire.documents.chunks import Chunk, Named, chunk_name
from split_wire.splice import Kept
from split_wire.tensor import Tensor
from split_wire.tiers import TIERS, Inexact, Tier
from tests import oracle
from tests.checkpoints import ALL_FAMILIES
from tests.engines import Device, TinySessions, serving, tiny_backbone
from tests.split_server.sessions.test_splicing import _off, _run

FIRST = [11 + 3 * i % 60 for i in range(20)]
OTHER = [9 + 7 * i % 50 for i in range(33)]
BOOK = [5 + (i * i) % 71 for i in range(80)]
QUESTION = [40, 41, 42, 43, 44]
PLACE = Chunk(len(OTHER), len(BOOK))
# All but the first rows, behind the other text.
SPAN = Kept(8, len(OTHER) + 8, len(BOOK) - 8)
ROWS = [*OTHER, *BOOK[:8], *QUESTION]
END = len(OTHER) + len(BOOK) + len(QUESTION)


def options(path: Path, tiers: tuple[Tier, ...] = ("exact", "approximate"), **others: Any) -> Any:
    """Of a service that takes chunks."""
    backbone, limits = tiny_backbone(path), others.pop("limits", PoolLimits())
    pool = RunPool(limits, others.pop("clock", time.monotonic))
    reuse = Reuse(pool, Namespaces("of the test"), tiers=tiers)
    return {"backbone": backbone, "reuse": reuse, "rotation": key_rotation(backbone), **others}


async def opened(service: TinySessions, path: Path, **who: Any) -> Device:
    return await Device(service, path, **{"cache": "approximate", **who}).open()


async def told(
    service: TinySessions, path: Path, first: Sequence[int] = FIRST, **who: Any
) -> Device:
    """A device whose session has computed the book behind the ``first`` text."""
    device = await opened(service, path, **who)
    device.protocol.chunks = (Chunk(len(first), len(BOOK)),)
    half = len(first) + 30
    text = [*first, *BOOK]
    await device.step(0, text[:half])
    await device.step(half, text[half:])
    return device


def name(device: Device) -> bytes:
    rows = oracle.embeddings(device.path, BOOK).numpy()
    return chunk_name(Tensor.from_f32(rows, device.dtype or device.service.info.dtype))


async def known(device: Device, place: Chunk = PLACE) -> bool:
    """Whether ``device`` is told that the book is known."""
    event = await device.send(device.protocol.find([Named(place, name(device))]))
    assert isinstance(event, ChunksFound), event
    return event.known == (0,)


def frame(device: Device, **changed: Any) -> bytes:
    """What takes the book behind the other text."""
    asked = {"start": 0, "spans": [SPAN], "sources": name(device)} | changed
    rows = oracle.embeddings(device.path, ROWS).numpy()
    return device.protocol.splice(asked["start"], asked["spans"], rows, 0.0, asked["sources"])


def expected(path: Path) -> torch.Tensor:
    """The state of the last row as Hugging Face gives it, behind the book's rows that the first
    text has computed so many positions before or behind that they lie where they are taken.
    """
    _run(path, ROWS[: len(OTHER) + 8], 0, held := DynamicCache())
    _run(path, [*FIRST, *BOOK], len(OTHER) - len(FIRST), old := DynamicCache())
    for mine, there in zip(held.layers, old.layers, strict=True):
        mine.keys = torch.cat((mine.keys, there.keys[:, :, len(FIRST) + 8 :]), 2)
        mine.values = torch.cat((mine.values, there.values[:, :, len(FIRST) + 8 :]), 2)
    return _run(path, QUESTION, len(OTHER) + len(BOOK), held)


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_a_known_chunk_is_attended_to_where_it_is_taken(
    family: str, tiny_family: Callable[[str], Path]
) -> None:
    path = tiny_family(family)

    async def scenario() -> Any:
        async with serving(path, **options(path)) as service:
            await told(service, path)
            device = await opened(service, path)
            assert await known(device)
            return await device.send(frame(device))

    found = asyncio.run(scenario())
    assert found.cached == END
    assert found.tiers == Inexact(approximate=END - SPAN.new)
    assert _off(found.hidden, expected(path)) < 1e-4


def test_kept_as_whole_numbers_it_differs_a_little_more(tiny_path: Path) -> None:
    async def scenario() -> tuple[Any, int]:
        async with serving(tiny_path, **options(tiny_path, TIERS)) as service:
            await told(service, tiny_path)
            device = await opened(service, tiny_path)
            assert await known(device)
            size = service.steps.reuse.pool.bytes_of("approximate")  # type: ignore[union-attr]
            return await device.send(frame(device)), size

    found, size = asyncio.run(scenario())
    whole = tiny_backbone(tiny_path).info.kv_bytes_per_position * len(BOOK)
    assert 0 < size < 0.5 * whole
    assert 1e-6 < _off(found.hidden, expected(tiny_path)) < 0.1


def test_only_sessions_that_ask_for_it_find_it_and_only_of_the_same_principal_and_salt(
    tiny_path: Path,
) -> None:
    async def scenario() -> list[Any]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            await told(service, tiny_path, principal="ann", salt="one")
            found: list[Any] = []
            for cache in ("exact", "int8", "off"):
                device = await opened(service, tiny_path, principal="ann", salt="one", cache=cache)
                assert device.protocol.opened is not None
                found.append("chunks" in device.protocol.opened.capabilities)
                # Its own rows alone, whatever it says of them.
                ids = [*FIRST, *BOOK, *QUESTION]
                assert await device.greedy(ids, 3) == oracle.greedy(tiny_path, ids, 3)
            for who in ({"salt": "two"}, {"principal": "bob"}, {}):
                asks = {"principal": "ann", "salt": "one"} | who
                found.append(await known(await opened(service, tiny_path, **asks)))
            return found

    assert asyncio.run(scenario()) == [False, False, False, False, False, True]


@pytest.mark.parametrize("what", ["find", "splice"])
def test_what_is_asked_of_a_session_that_takes_none_is_refused(tiny_path: Path, what: str) -> None:
    async def scenario() -> str:
        async with serving(tiny_path, **options(tiny_path)) as service:
            exact = (await opened(service, tiny_path, cache="exact")).protocol.opened
            device = await opened(service, tiny_path)
            assert exact is not None
            assert device.protocol.opened is not None
            finding = device.protocol.find if what == "find" else None
            sent = finding([Named(PLACE, name(device))]) if finding else frame(device)
            own, its = (each.session.encode() for each in (device.protocol.opened, exact))
            answer = await service.handle("local", sent.replace(own, its))
            assert answer.error is not None
            return answer.error.code

    assert asyncio.run(scenario()) == "unsupported"


def test_members_of_a_group_find_it_as_far_as_both_share(tiny_path: Path) -> None:
    groups = CacheGroups([group_text("us=ann+bob")])

    async def scenario() -> list[bool]:
        async with serving(tiny_path, **options(tiny_path, groups=groups)) as service:
            await told(service, tiny_path, principal="ann", group="us", share=112)
            found = []
            for principal, share in (("bob", 128), ("bob", 64), ("ann", 0)):
                who = {"principal": principal, "group": "us", "share": share}
                found.append(await known(await opened(service, tiny_path, **who)))
            found.append(await known(await opened(service, tiny_path, principal="bob")))
            return found

    assert asyncio.run(scenario()) == [True, False, False, False]


@pytest.mark.parametrize("span", [Kept(8, 41, 73), Kept(80, 41, 1)])
def test_rows_that_a_chunk_does_not_have_are_refused(tiny_path: Path, span: Kept) -> None:
    async def scenario() -> str:
        async with serving(tiny_path, **options(tiny_path)) as service:
            await told(service, tiny_path)
            device = await opened(service, tiny_path)
            return await device.refused(frame(device, spans=[span]))

    assert asyncio.run(scenario()) == "chunk_gone"


def test_it_is_found_among_as_many_as_a_message_asks_for(tiny_path: Path) -> None:
    async def scenario() -> Any:
        async with serving(tiny_path, **options(tiny_path)) as service:
            await told(service, tiny_path)
            device = await opened(service, tiny_path)
            names = [*(number.to_bytes(16, "little") for number in range(1023)), name(device)]
            asked = [Named(Chunk(80 * at, 80), each) for at, each in enumerate(names)]
            return await device.send(device.protocol.find(asked))

    assert asyncio.run(scenario()).known == (1023,)


def test_rows_that_were_taken_are_never_kept_as_a_chunk_and_those_beside_them_are(
    tiny_path: Path,
) -> None:
    async def scenario() -> tuple[bool, bool]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            await told(service, tiny_path)
            device = await opened(service, tiny_path)
            long = [7 + (3 * i * i) % 83 for i in range(70)]
            span = Kept(8, len(long) + 8, len(BOOK) - 8)
            device.protocol.chunks = (Chunk(0, 70), Chunk(len(long), len(BOOK)))
            rows = oracle.embeddings(tiny_path, [*long, *BOOK[:8], *QUESTION]).numpy()
            before = len(service.steps.reuse.pool)  # type: ignore[union-attr]
            await device.send(device.protocol.splice(0, [span], rows, 0.0, name(device)))
            added = len(service.steps.reuse.pool) - before  # type: ignore[union-attr]
            rows = oracle.embeddings(tiny_path, long).numpy()
            mine = Named(Chunk(0, 70), chunk_name(Tensor.from_f32(rows, service.info.dtype)))
            event = await device.send(device.protocol.find([mine]))
            return added == 1, event.known == (0,)

    assert asyncio.run(scenario()) == (True, True)


def test_after_three_wrong_replies_of_a_principal_it_is_offered_none_and_others_are(
    tiny_path: Path,
) -> None:
    async def scenario() -> list[bool]:
        audit = ApproximateAudit(0.0)
        async with serving(tiny_path, **options(tiny_path), approximate=audit) as service:
            for _ in range(3):
                audit.take("ann", {"documents"}, "kl", 9.0)
            found = []
            for principal in ("ann", "bob"):
                device = await opened(service, tiny_path, principal=principal)
                found += [device.protocol.finds, device.protocol.splices]
            return found

    assert asyncio.run(scenario()) == [False, True, True, True]


def test_positions_are_counted(tiny_path: Path) -> None:
    async def scenario() -> tuple[Any, int]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            await told(service, tiny_path)
            device = await opened(service, tiny_path)
            await device.send(frame(device))
            splicing, reuse = service.steps.splicing, service.steps.reuse
            assert splicing is not None
            assert reuse is not None
            return splicing.positions, reuse.taken["documents"]

    positions, taken = asyncio.run(scenario())
    assert positions == {"moved": 0, "computed": len(ROWS), "blended": 0, "documents": 72}
    assert taken == 72
