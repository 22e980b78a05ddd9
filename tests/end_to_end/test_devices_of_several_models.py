"""A server with two models, as its devices use it: by name, side by side, one after the other."""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client.api import AsyncSplitClient, SplitClient
from split_client.errors import ModelNotServed
from split_client.generation.sampling.params import SamplingParams
from split_client.transport.channel import Loading, Reconnecting
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.checkpoints import tiny_checkpoint
from tests.end_to_end.terminal.commands import QUESTION, run
from tests.server_process import RunningServer, running_server

PROMPT, TOKENS = [5, 9, 3, 7, 11, 2], 12


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint("qwen2", tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def server(tiny: Path) -> Iterator[RunningServer]:
    with running_server((f"demo={EMBEDDED}", f"tiny={tiny}"), keep=0.0) as running:
        yield running


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _environment(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_CACHE", str(cache))
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))
    (tmp_path / "config.toml").write_text("")
    monkeypatch.setenv("SPLIT_CONFIG", str(tmp_path / "config.toml"))


def said(client: SplitClient) -> list[int]:
    prompt = client.ends.tokenizer.decode(PROMPT)
    reply = client.generate(prompt, SamplingParams(), max_tokens=TOKENS)
    reply.read()
    return list(reply.token_ids)


def expected(path: Path, client: SplitClient) -> list[int]:
    prompt = client.ends.tokenizer.encode(
        client.ends.tokenizer.decode(PROMPT), add_special_tokens=True
    )
    return list(oracle.greedy(path, prompt, TOKENS))


def test_each_model_answers_by_its_name_as_generate_does(server: RunningServer, tiny: Path) -> None:
    with SplitClient(server.url, model="tiny") as second, SplitClient(server.url) as first:
        assert said(second) == expected(tiny, second)[: len(said(second))]
        assert said(first) == expected(EMBEDDED, first)[: len(said(first))]
        assert (first.model, second.model) == (None, "tiny")
        assert second.manifest.digest != first.manifest.digest
        listed = first.served_models()
        assert listed is not None
        assert [(one.name, one.first) for one in listed] == [("demo", True), ("tiny", False)]
        assert [one.state for one in listed] == ["loaded", "loaded"]


def test_names_that_are_not_there_are_refused_with_those_that_are(server: RunningServer) -> None:
    with pytest.raises(ModelNotServed, match="demo, tiny"):
        SplitClient(server.url, model="nope").connect()


def test_programs_with_an_event_loop_choose_a_model_as_well(server: RunningServer) -> None:
    async def listed() -> tuple[str, list[str]]:
        async with AsyncSplitClient(server.url, model="tiny") as client:
            models = await client.served_models()
            return client.ends.manifest.family, [one.name for one in models or ()]

    assert asyncio.run(listed()) == ("qwen2", ["demo", "tiny"])


def test_a_model_that_was_let_go_is_loaded_again_and_the_chat_goes_on(
    server: RunningServer,
) -> None:
    notices: list[Reconnecting] = []
    with SplitClient(server.url, model="tiny", on_notice=notices.append) as client:
        chat = client.conversation()
        chat.params, chat.max_tokens = SamplingParams(), 5
        chat.send("one").read()
        with server.client() as asking:
            answer = asking.post("/api/v1/models/tiny/unload")
            assert answer.status_code == 200, answer.text
        reply = chat.send("two")
        reply.read()
        assert reply.finish_reason in ("length", "eos")
        assert len(chat.messages) == 4
    assert all(isinstance(notice, Loading) for notice in notices)


def test_a_terminal_lists_changes_and_resumes_models(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"--url={server.url}"

    def typed(lines: str, *arguments: str) -> tuple[str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        status, shown, told = run(
            "chat", "--temperature=0", "--max-tokens=6", url, *arguments, capsys=capsys
        )
        assert status == 0, told
        return shown, told

    document = json.loads(run("models", "--json", url, capsys=capsys)[1])
    assert [one["name"] for one in document["models"]] == ["demo", "tiny"]
    shown, told = typed(f"{QUESTION}\n/model tiny\nAnd?\n/server\n/save Both\n/model\n")
    assert "the chat goes on with" in told
    assert "tiny: this chat's, " in told
    assert ", served as tiny" in shown
    shown, told = typed("/server\n", "--load=Both")
    assert ", served as tiny" in shown
    assert "the chat goes on with" not in told
    saved = json.loads(next(Path(os.environ["SPLIT_DATA"]).glob("chats/*.json")).read_text())
    assert (saved["served"], len(saved["messages"])) == ("tiny", 4)


def test_the_doctor_examines_one_of_several_models(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    status, shown, _ = run("doctor", "--json", f"--url={server.url}", "--model=tiny", capsys=capsys)
    checks = {check["check"]: check["state"] for check in json.loads(shown)["checks"]}
    assert status == 0, shown
    assert [checks[name] for name in ("server", "manifest", "session", "step")] == ["ok"] * 4
