"""Tokenizer and template for several requests at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from split_client.weights.store import ModelStore
from split_server.checkpoint.catalog import build_catalog
from split_server.checkpoint.folder import EMBEDDED, read_checkpoint
from split_server.checkpoint.manifest import build_manifest
from split_server.compat.ends import LocalEnds
from split_server.compat.text_process import TextProcess
from split_server.compat.texts import Texts
from tests.engines import run

WHO = "somebody"
TEXT = "What is split inference?"


@pytest.fixture(scope="module")
def local() -> Iterator[LocalEnds]:
    checkpoint = read_checkpoint(EMBEDDED, "embedded")
    catalog = build_catalog(checkpoint)
    ends = LocalEnds.open(catalog, build_manifest(checkpoint, catalog), ModelStore())
    yield ends
    ends.close()


def test_texts_become_ids_and_texts_again(local: LocalEnds) -> None:
    async def main() -> str:
        texts = Texts(local.ends, TextProcess(local.tokenizer))
        ids = await texts.encode(WHO, TEXT)
        assert ids == local.ends.tokenizer.encode(TEXT)
        decoded = await texts.decode(WHO, ids)
        texts.close()
        return decoded

    assert run(main()) == TEXT


def test_a_long_text_has_the_ids_of_its_parts(local: LocalEnds) -> None:
    """Both ways through the library agree: at a control token nothing merges."""
    part = f"{TEXT * 500}<|im_end|>"
    ids = local.ends.tokenizer.encode(part * 3)
    assert len(part) > 8192
    assert ids == 3 * local.ends.tokenizer.encode(part)
    short = f"{TEXT}<|im_end|>"
    assert local.ends.tokenizer.encode(short * 400) == 400 * local.ends.tokenizer.encode(short)


def test_a_short_text_does_not_wait_for_a_slow_template_or_a_long_text(local: LocalEnds) -> None:
    async def main() -> None:
        texts = Texts(local.ends, TextProcess(local.tokenizer))
        gate: Future[None] = Future()
        held = [pool.submit(gate.result) for pool in (texts._long, texts._rendering)]
        try:
            async with asyncio.timeout(20):
                assert await texts.encode(WHO, TEXT) == local.ends.tokenizer.encode(TEXT)
        finally:
            gate.set_result(None)
        for one in held:
            one.result(20)
        texts.close()

    run(main())


def test_messages_become_the_models_prompt(local: LocalEnds) -> None:
    messages = [{"role": "user", "content": TEXT}]

    async def main() -> list[str]:
        texts = Texts(local.ends, TextProcess(local.tokenizer))
        prompts = await asyncio.gather(*(texts.render(WHO, messages) for _ in range(4)))
        texts.close()
        return prompts

    expected = local.ends.template().render(messages)
    assert run(main()) == [expected] * 4
