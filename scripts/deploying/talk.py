"""A reply through a server, and the stock model's."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import httpx

from scripts.bench.fleet.replicas import TOKEN
from scripts.bench.workers import Worker
from scripts.deploying.contained import Running
from scripts.deploying.part import PartFailed
from split_client.api import SamplingParams, SplitClient
from split_server.checkpoint.folder import EMBEDDED

_PROMPT = "The device holds the ends of a model and"
_TOKENS = 24
_START_SECONDS = 300.0


def held_through(url: str, running: Running) -> str:
    """The text of a greedy reply at ``url``, which is the stock model's. Raises PartFailed."""
    _wait(url, running)
    with (
        tempfile.TemporaryDirectory() as cache,
        SplitClient(url, token=TOKEN, cache=Path(cache)) as client,
    ):
        reply = client.generate(_PROMPT, SamplingParams(temperature=0.0), max_tokens=_TOKENS)
        text = reply.read()
        ids = client.ends.tokenizer.encode(_PROMPT, add_special_tokens=True)
    stock = Worker("scripts.bench.peers.generate", str(EMBEDDED), "float32")
    try:
        expected = stock.ask(op="generate", ids=ids, tokens=_TOKENS)["ids"]
    finally:
        stock.close()
    if reply.token_ids != expected:
        raise PartFailed(f"the reply is {reply.token_ids}, generate's {expected}")
    return text


def _wait(url: str, running: Running) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and not running.ended():
        try:
            if httpx.get(f"{url}/ready", trust_env=False, timeout=2).status_code == httpx.codes.OK:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise PartFailed(f"the server in the image does not answer:\n{running.output()[-2000:]}")
