"""``/metrics`` over a real socket, read with Prometheus' own parser."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from prometheus_client.parser import text_string_to_metric_families

from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_wire.attention import AttentionRequest
from split_wire.client import ClientProtocol
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server
from tests.split_server.conftest import TOKEN

_PATH = "/metrics"
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]
# Prometheus' text format: comments, and a name with labels and a number.
_LINE = re.compile(
    r"# (HELP|TYPE) [a-z_]+ .+|"
    r'[a-z_]+(\{([a-z]+="[^"\\\n]*"(,|(?=\})))+\})? [-+]?(\d+(\.\d+)?(e[-+]?\d+)?|Inf|NaN)'
)


@pytest.fixture
def server(tiny_path: Path) -> Iterator[RunningServer]:
    """A server of its own, whose counts nothing else changes."""
    with running_server(tiny_path) as running:
        yield running


def _scrape(server: RunningServer) -> Samples:
    with server.client() as client:
        text = client.get(_PATH).text
    families = list(text_string_to_metric_families(text))
    assert len({family.name for family in families}) == len(families)
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def _of(samples: Samples, name: str, **labels: str) -> float:
    return samples[name, tuple(sorted(labels.items()))]


def _device(server: RunningServer) -> ClientProtocol:
    device = ClientProtocol(server.parts.steps.info.hidden_size, server.manifest)
    device.receive(server.post(device.open()).content)
    return device


def _step(server: RunningServer, device: ClientProtocol, rows: int, **options: object) -> None:
    width = server.parts.steps.info.hidden_size
    embeddings = np.linspace(-1, 1, rows * width, dtype=np.float32).reshape(rows, width)
    frame = device.step(device.cached, embeddings, **options)  # type: ignore[arg-type]
    device.receive(server.post(frame).content)


def test_it_is_prometheus_text_in_prometheus_media_type(server: RunningServer) -> None:
    with server.client() as client:
        answer = client.get(_PATH)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    lines = answer.text.splitlines()
    assert [line for line in lines if not _LINE.fullmatch(line)] == []
    assert answer.text.endswith("\n")


def test_every_histogram_has_rising_buckets_and_a_count(server: RunningServer) -> None:
    _step(server, _device(server), 3)
    buckets: dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[float, float]]] = {}
    samples = _scrape(server)
    for (name, labels), value in samples.items():
        if name.endswith("_bucket"):
            others = tuple(pair for pair in labels if pair[0] != "le")
            key = (name.removesuffix("_bucket"), others)
            buckets.setdefault(key, []).append((float(dict(labels)["le"]), value))
    assert len(buckets) == 10
    for (name, others), found in buckets.items():
        assert found == sorted(found)
        assert [count for _, count in found] == sorted(count for _, count in found)
        assert found[-1] == (float("inf"), samples[f"{name}_count", others])


def test_a_turn_is_counted_step_by_step(server: RunningServer) -> None:
    device = _device(server)
    for rows in (20, 1, 1, 1):
        _step(server, device, rows)
    samples = _scrape(server)
    assert _of(samples, "split_steps_total", kind="prefill", outcome="answered") == 1
    assert _of(samples, "split_steps_total", kind="decode", outcome="answered") == 3
    assert _of(samples, "split_rows_total", kind="prefill") == 20
    assert _of(samples, "split_tokens_total", kind="prefill") == 20
    assert _of(samples, "split_tokens_total", kind="decode") == 3
    assert _of(samples, "split_time_to_first_token_seconds_count") == 1
    assert _of(samples, "split_time_per_token_seconds_count") == 3
    for part in ("queue", "compute"):
        assert _of(samples, "split_step_seconds_count", kind="decode", part=part) == 3
    assert _of(samples, "split_step_seconds_sum", kind="prefill", part="compute") > 0
    assert _of(samples, "split_pass_sessions_sum") == _of(samples, "split_pass_sessions_count")
    assert _of(samples, "split_pass_seconds_count") >= 4
    assert _of(samples, "split_queue_steps") == 0
    assert _of(samples, "split_sessions") == 1


def test_attention_counts_the_bytes_of_its_rows(server: RunningServer) -> None:
    device, info = _device(server), server.parts.steps.info
    _step(server, device, 6, attention=AttentionRequest())
    sent = 4 * info.num_layers * info.num_heads * 6
    assert _of(_scrape(server), "split_attention_bytes_total") == sent
    _step(server, device, 1, attention=AttentionRequest(heads="mean", top_k=2))
    sent += (4 + 4) * info.num_layers * 2
    assert _of(_scrape(server), "split_attention_bytes_total") == sent


def test_errors_of_frames_and_of_http_are_counted_by_code(server: RunningServer) -> None:
    device = _device(server)
    frame = device.step(0, np.zeros((1, server.parts.steps.info.hidden_size), np.float32))
    server.parts.steps.store.close("local", device.opened.session)  # type: ignore[union-attr]
    server.post(frame)
    with server.socket() as socket:
        socket.send("text")
        socket.recv()
    with server.client() as client:
        client.get("/nothing/here")
        client.post(_PATH)
        client.get(_PATH, headers={"Host": "evil.example.org"})
        client.post("/v1/completions", json={"model": "tiny", "prompt": "a", "n": "x"})
        client.post("/api/v1/generate", json={"max_length": "x"})
    samples = _scrape(server)
    codes = {
        (dict(labels)["form"], dict(labels)["code"]): value
        for (name, labels), value in samples.items()
        if name == "split_errors_total"
    }
    assert codes["frame", "unknown_session"] == 1
    assert codes["frame", "malformed_frame"] == 1
    assert codes["http", "not_found"] == 1
    assert codes["http", "method_not_allowed"] == 1
    assert len(codes) >= 6
    assert _of(samples, "split_http_answers_total", status="404") == 2
    assert _of(samples, "split_http_answers_total", status="101") == 1


def test_sockets_and_queued_steps_are_seen_while_they_last(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, gate, run = threading.Event(), threading.Event(), ModelRunner.run

    def held(runner: ModelRunner, slices: Sequence[Slice]) -> list[torch.Tensor]:
        entered.set()
        assert gate.wait(PATIENCE)
        return run(runner, slices)

    monkeypatch.setattr(ModelRunner, "run", held)
    width = server.parts.steps.info.hidden_size
    with server.socket() as socket:
        device = ClientProtocol(width, server.manifest)
        socket.send(device.open())
        device.receive(socket.recv())  # type: ignore[arg-type]
        socket.send(device.step(0, np.ones((2, width), np.float32)))
        try:
            assert entered.wait(PATIENCE)
            samples = _scrape(server)
        finally:
            gate.set()
        device.receive(socket.recv())  # type: ignore[arg-type]
    assert _of(samples, "split_sockets") == 1
    assert _of(samples, "split_queue_steps") == 1
    assert _of(_scrape(server), "split_queue_steps") == 0


def test_memory_and_caches_are_those_of_the_memory_report(server: RunningServer) -> None:
    _step(server, _device(server), 30)
    with server.client() as client:
        report = client.get("/api/v1/memory").json()
    samples = _scrape(server)
    for state in ("budget", "reserved", "idle"):
        assert _of(samples, "split_cache_bytes", state=state) == report["caches"][state]
    assert _of(samples, "split_memory_kept_free_bytes") == report["limit"]["kept_free"]
    assert _of(samples, "split_memory_free_bytes") > 0
    assert _of(samples, "split_memory_refusals_total") == 0
    assert _of(samples, "process_start_time_seconds") > 0


def test_generations_of_the_compatible_apis_are_counted(server: RunningServer) -> None:
    body = {"model": "tiny", "prompt": [3, 4, 5], "max_tokens": 4, "temperature": 0}
    with server.client() as client:
        usage = client.post("/v1/completions", json=body).json()["usage"]
    samples = _scrape(server)
    assert _of(samples, "split_generations_ended_total") == 1
    assert _of(samples, "split_generation_tokens_total", part="prompt") == usage["prompt_tokens"]
    assert _of(samples, "split_generation_tokens_total", part="reply") == usage["completion_tokens"]
    assert _of(samples, "split_generations", state="running") == 0
    assert _of(samples, "split_generations", state="waiting") == 0


def test_the_build_is_named_without_a_path(server: RunningServer, tiny_path: Path) -> None:
    (labels,) = [dict(pairs) for name, pairs in _scrape(server) if name == "split_build_info"]
    assert labels["model"] == tiny_path.name
    assert labels["dtype"] == server.parts.steps.info.dtype
    assert re.match(r"\d+\.\d+", labels["version"])
    with server.client() as client:
        assert str(tiny_path.parent) not in client.get(_PATH).text


def test_nothing_in_it_belongs_to_a_principal_or_comes_from_a_client(
    guarded_server: RunningServer,
) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    with guarded_server.client(headers=bearer) as client:
        client.get("/secret-path", headers={"User-Agent": "secret-agent"})
        client.request("SECRETMETHOD", "/")
        text = client.get(_PATH).text
    for word in ("secret", "SECRET", TOKEN, "owner"):
        assert word not in text


def test_it_is_behind_the_same_guards_as_everything_else(guarded_server: RunningServer) -> None:
    with guarded_server.client() as client:
        assert client.get(_PATH).status_code == 401
        assert client.get(_PATH, headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert client.get(_PATH, headers={"Host": "evil.example.org"}).status_code == 403


def test_two_servers_of_one_process_count_apart(server: RunningServer, tiny_path: Path) -> None:
    _step(server, _device(server), 2)
    with running_server(tiny_path) as other:
        assert _of(_scrape(other), "split_tokens_total", kind="prefill") == 0
    assert _of(_scrape(server), "split_tokens_total", kind="prefill") == 2
