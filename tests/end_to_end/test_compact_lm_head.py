"""`lm_head="compact"` over real sockets: greedy replies equal Hugging Face `generate`."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import AutoTokenizer

from split_client.api import SplitClient
from split_client.generation.errors import PlaneNotStored
from split_client.generation.head.compact import head as compact
from split_client.generation.head.compact.file import PLANE_FILE
from split_client.generation.sampling.params import SamplingParams
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.server_process import running_server


def test_a_chat_equals_generate_and_the_plane_lies_beside_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compact, "_COMPACT_FROM", 1)
    messages = [{"role": "user", "content": "What is split inference?"}]
    prompt = AutoTokenizer.from_pretrained(EMBEDDED).apply_chat_template(
        messages, add_generation_prompt=True, return_dict=False
    )
    expected = oracle.greedy(EMBEDDED, list(prompt), 30)
    with running_server() as server:
        with SplitClient(server.url, cache=tmp_path, lm_head="compact") as client:
            assert client.ends.head.screened
            assert token_ids(client, messages) == expected
        (plane,) = tmp_path.rglob(PLANE_FILE)
        plane.write_bytes(b"torn")
        with SplitClient(server.url, cache=tmp_path, lm_head="compact") as client:
            assert token_ids(client, messages) == expected
        assert plane.stat().st_size > 4096
        plane.unlink()
        plane.mkdir()
        (plane / "in the way").touch()
        with (
            pytest.raises(PlaneNotStored),
            SplitClient(server.url, cache=tmp_path, lm_head="compact"),
        ):
            pass


def token_ids(client: SplitClient, messages: list[dict[str, str]]) -> list[int]:
    reply = client.chat(messages, SamplingParams(), max_tokens=30)
    reply.read()
    return reply.token_ids
