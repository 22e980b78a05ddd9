"""More chats than the caches hold, through the endpoint: none fails."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from split_server.kv.capacity import capacity_for
from tests.patience import PATIENCE
from tests.server_process import running_server
from tests.split_server.http.openai.calls import COMPLETIONS

_PROMPT, _TOKENS, _CHATS, _ROOM = 40, 6, 64, 8


def test_64_chats_in_the_memory_of_8_each_get_their_reply(tiny_path: Path) -> None:
    # Of one position: layers, keys and values, heads, their size, bytes of a number.
    position = 3 * 2 * 2 * 16 * 4
    memory = _ROOM * (capacity_for(_PROMPT + _TOKENS) * position + 64 * 64)
    with running_server(tiny_path, cache_bytes=memory) as server, server.client() as client:

        def asked(number: int) -> tuple[int, int]:
            prompt = [1 + (number + position) % 200 for position in range(_PROMPT)]
            body = {"model": tiny_path.name, "prompt": prompt, "max_tokens": _TOKENS}
            fields = {"temperature": 0, "ignore_eos": True}
            answer = client.post(COMPLETIONS, json=body | fields, timeout=PATIENCE)
            used = answer.json().get("usage", {})
            return answer.status_code, used.get("completion_tokens", 0)

        with ThreadPoolExecutor(_CHATS) as threads:
            told = list(threads.map(asked, range(_CHATS)))
    assert {status for status, _ in told} == {200}
    assert min(tokens for _, tokens in told) >= 1
