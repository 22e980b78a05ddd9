"""A checkpoint in several files is served like the same one in a single file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from tests import oracle
from tests.checkpoints import tiny_checkpoint
from tests.server_process import running_server

COUNT = 24


def sharded(whole: Path, path: Path) -> Path:
    """The checkpoint ``whole`` in files of at most 100 kB and an index, at ``path``."""
    shutil.copytree(whole, path, ignore=shutil.ignore_patterns("*.safetensors"))
    oracle.model(whole).save_pretrained(path, max_shard_size="100KB")
    assert len(list(path.glob("model-*-of-*.safetensors"))) > 3
    assert not (path / "model.safetensors").exists()
    return path


@pytest.mark.parametrize(("family", "tied"), [("qwen2", True), ("phi", False)])
def test_a_chat_equals_that_of_generate_on_the_single_file(
    family: str, tied: bool, tmp_path: Path
) -> None:
    whole = tiny_checkpoint(family, tmp_path / "whole", tied=tied)
    path = sharded(whole, tmp_path / "sharded")
    with running_server(path) as server, SplitClient(server.url, cache=tmp_path) as client:
        chat = client.conversation()
        chat.params, chat.max_tokens = SamplingParams(), COUNT
        for text in ("What is split inference?", "And what does the relay do?"):
            chat.conversation.say(text)
            prompt = chat.conversation.prompt().ids
            reply = chat.answer()
            reply.read()
            assert reply.token_ids == oracle.greedy(whole, prompt, COUNT)
