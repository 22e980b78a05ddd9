"""Two devices of one person find each other's chats where the operator and both ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_client.api import SplitClient
from split_client.errors import ServerRefused
from split_client.generation.sampling.params import SamplingParams
from tests.server_process import running_server

SYSTEM = " ".join(f"Rule {number}: answer briefly and name the rule." for number in range(12))
ASKED = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "What is a relay?"}]
TOKENS = {name: f"{name}-token-that-is-long-enough" for name in ("phone", "laptop", "guest")}
ALL = (1 << 53) - 1


def restored(url: str, cache: Path, name: str, group: str | None, share: int) -> tuple[int, str]:
    with SplitClient(
        url, cache=cache, token=TOKENS[name], cache_group=group, share_until=share
    ) as client:
        reply = client.chat(ASKED, SamplingParams(), max_tokens=8)
        text = reply.read()
        return reply.stats.prompt_restored, text


def test_a_second_device_finds_what_the_first_one_shared(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("".join(f"{name} {token}\n" for name, token in TOKENS.items()))
    tokens.chmod(0o600)
    cache = tmp_path / "cache"
    with running_server(token_file=tokens, kv_groups=("mine=phone+laptop",)) as server:
        first, text = restored(server.url, cache, "phone", "mine", ALL)
        second, same = restored(server.url, cache, "laptop", "mine", ALL)
        alone, _ = restored(server.url, cache, "laptop", None, 0)
        with pytest.raises(ServerRefused) as refused:
            restored(server.url, cache, "guest", "mine", ALL)
    assert (first, alone) == (0, 0)
    assert second > 64
    assert same == text
    assert refused.value.code == "unknown_cache_group"
