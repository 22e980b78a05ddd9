"""Several models at one address: listed, chosen, changed in a chat, remembered with it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_client.noise.words import OTHER_NOISE_LINE
from split_client.terminal.input import reader as readers
from tests.checkpoints import tiny_checkpoint
from tests.end_to_end.terminal.commands import QUESTION, run
from tests.server_process import RunningServer, running_server
from tests.several_models import SeveralModels

SHORT = ("--temperature=0", "--max-tokens=6")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tiny_checkpoint("llama", tmp_path_factory.mktemp("tiny"))) as running:
        yield running


@pytest.fixture
def models(server: RunningServer, other: RunningServer) -> Iterator[SeveralModels]:
    with SeveralModels({"demo": server, "tiny": other}) as several:
        yield several


def typed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lines: str,
    *arguments: str,
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    return run("chat", *SHORT, *arguments, capsys=capsys)


def test_models_lists_all_of_a_server_with_what_the_device_holds_of_them(
    models: SeveralModels, capsys: pytest.CaptureFixture[str]
) -> None:
    models.states["tiny"] = "unloaded"
    with SplitClient(models.url):
        pass
    status, shown, _ = run("models", f"--url={models.url}", capsys=capsys)
    lines = shown.splitlines()
    assert status == 0
    assert lines[1].startswith("  demo: the first, loaded, llama, 2 layers, 1.0 kB on the server, ")
    assert lines[1].endswith(" stored here")
    assert lines[2].startswith("  tiny: not loaded; whoever asks first waits for it, llama, ")
    assert lines[2].endswith("not stored here yet")
    # To look at one that is not loaded would load it.
    assert "tiny" not in models.asked
    document = json.loads(run("models", "-u", models.url, "--json", capsys=capsys)[1])
    assert [one["name"] for one in document["models"]] == ["demo", "tiny"]
    assert [one["stored"] for one in document["models"]] == [True, False]
    assert document["models"][0]["download_bytes"] == document["served"]["bytes"]
    assert document["models"][1]["download_bytes"] is None


def test_a_model_is_chosen_by_flag_variable_and_the_end_of_the_url(
    models: SeveralModels,
    other: RunningServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with SplitClient(other.url) as client:
        reply = client.chat(QUESTION, SamplingParams(), max_tokens=6)
        reply.read()
        said = list(reply.token_ids)

    def generated(*arguments: str) -> list[int]:
        shown = run("generate", "--json", *SHORT, *arguments, QUESTION, capsys=capsys)[1]
        events = [json.loads(line) for line in shown.splitlines()]
        return [event["id"] for event in events if event["type"] == "token"]

    assert generated(f"--url={models.url}", "--model", "tiny") == said
    monkeypatch.setenv("SPLIT_CLIENT_MODEL", "tiny")
    assert generated(f"--url={models.url}") == said
    monkeypatch.delenv("SPLIT_CLIENT_MODEL")
    assert generated(f"--url={models.url}/m/tiny") == said
    assert set(models.asked) == {"tiny"}


def test_names_that_are_not_there_or_are_none_are_told_with_those_that_are(
    models: SeveralModels, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"--url={models.url}"
    status, _, told = run("generate", url, "--model=nope", "hi", capsys=capsys)
    assert status == 1
    assert "served: demo, tiny" in told
    assert "split-client models lists them" in told
    assert told.endswith("[unknown_model]\n")
    status, _, told = run("generate", url, "--model=../x", "hi", capsys=capsys)
    assert (status, told[-22:]) == (1, " [model_name_invalid]\n")


def test_a_server_without_several_models_is_told_in_clear_words(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with SeveralModels({"demo": server}, lists=False) as old:
        status, _, told = run("generate", f"--url={old.url}", "--model=demo", "hi", capsys=capsys)
        shown = run("models", f"--url={old.url}", capsys=capsys)[1]
    assert status == 1
    assert "serves one model and knows no names of models; leave --model out" in told
    assert told.endswith("[models_not_listed]\n")
    assert "gatelink-demo (" in shown


def test_a_model_that_is_being_loaded_is_waited_for_with_words(
    models: SeveralModels, capsys: pytest.CaptureFixture[str]
) -> None:
    models.loading["tiny"] = 2
    status, shown, told = run(
        "generate", *SHORT, f"--url={models.url}", "--model=tiny", "hi", capsys=capsys
    )
    assert status == 0
    assert shown.strip()
    assert told.count("model 'tiny' is being loaded, about 1 s; it goes on by itself") == 1


def test_a_model_that_cannot_be_loaded_is_told_with_what_to_do(
    models: SeveralModels, capsys: pytest.CaptureFixture[str]
) -> None:
    models.busy["tiny"] = 1
    status, _, told = run("generate", f"--url={models.url}", "--model=tiny", "hi", capsys=capsys)
    assert status == 1
    assert "others in use hold the memory; try again when that one is idle, choose another" in told
    assert told.endswith("[model_busy]\n")


def test_a_chat_goes_on_with_another_model_and_keeps_its_text_and_settings(
    models: SeveralModels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = f"/model\n/system Be brief.\n{QUESTION}\n/set top_p 0.5\n/model tiny\n/model\n/set\n"
    lines += "And then?\n/server\n/model demo\n/stats\n/save Two models\n/model nope\n"
    status, shown, told = typed(monkeypatch, capsys, lines, f"--url={models.url}")
    assert status == 0
    assert "this chat is with gatelink-demo\ndemo: this chat's, the first, loaded, unused" not in (
        told
    )
    assert "demo: this chat's, the first, loaded" in told
    assert "tiny: this chat's, loaded" in told
    assert f"served as tiny at {models.url}/m/tiny; its next message sends all of it" in told
    assert "temperature 0 · top_p 0.5" in told
    assert ", served as tiny" in shown
    assert "5 messages, 0 tokens cached" in told
    assert "there is no model 'nope'; there are demo, tiny" in told
    saved = json.loads(next(Path(_data()).glob("chats/*.json")).read_text())
    assert [message["role"] for message in saved["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert (saved["served"], len(saved["manifest"])) == ("demo", 64)


def test_the_map_of_redaction_goes_along_and_values_stay_here(
    models: SeveralModels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "Write to anna@example.org\n/redact map\n/model tiny\n/redact map\n/save Redacted\n"
    status, shown, told = typed(monkeypatch, capsys, lines, f"--url={models.url}", "--redact")
    said = shown + told
    mapped = [line for line in said.splitlines() if "anna@example.org" in line]
    assert status == 0
    assert len(mapped) == 2
    assert mapped[0] == mapped[1]
    saved = json.loads(next(Path(_data()).glob("chats/*.json")).read_text())
    assert saved["redaction"]["on"] is True


def test_with_noise_another_model_is_sent_other_noise_and_that_is_told(
    models: SeveralModels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "Hello\n/model tiny\nAgain\n/save Noised\n"
    status, _, told = typed(monkeypatch, capsys, lines, f"--url={models.url}", "--noise-sigma=0.01")
    assert status == 0
    assert told.count(OTHER_NOISE_LINE) == 1
    saved = json.loads(next(Path(_data()).glob("chats/*.json")).read_text())
    assert (saved["noise"], len(saved["messages"])) == (True, 4)


def test_where_another_model_cannot_be_had_the_chat_goes_on_with_the_one_there_is(
    models: SeveralModels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models.busy["tiny"] = 1
    lines = f"{QUESTION}\n/model tiny\n/stats\n/retry\n"
    status, shown, told = typed(monkeypatch, capsys, lines, f"--url={models.url}")
    answers = shown.splitlines()
    assert (status, len(answers), answers[0]) == (0, 2, answers[1])
    assert "[model_busy]" in told
    assert "2 messages, " in told


def test_a_saved_chat_is_resumed_with_its_model_and_told_where_that_is_gone(
    models: SeveralModels,
    server: RunningServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = f"--url={models.url}"
    typed(monkeypatch, capsys, f"{QUESTION}\n/save Rome\n", url, "--model=tiny")
    models.asked.clear()
    _, shown, _ = typed(monkeypatch, capsys, "/server\n", url, "--load=Rome")
    assert ", served as tiny" in shown
    # Nothing of the first model was asked for, least of all its weights.
    assert set(models.asked) == {"tiny"}
    _, _, told = typed(monkeypatch, capsys, "/load Rome\n/model\n", url)
    assert "the chat goes on with" in told
    assert "tiny: this chat's, loaded" in told
    _, _, told = typed(monkeypatch, capsys, "/model\n", url, "--load=Rome", "--model=demo")
    assert "demo: this chat's, the first, loaded" in told
    with SeveralModels({"demo": server}) as fewer:
        _, _, told = typed(monkeypatch, capsys, "/model\n", f"--url={fewer.url}", "--load=Rome")
    assert "the chat was with tiny, which this server has no more (it has demo)" in told
    assert "demo: this chat's" in told


def test_names_are_completed_in_the_chat_and_in_a_shell(
    models: SeveralModels, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPLIT_CLIENT_URL", models.url)
    assert run("completion", "served", capsys=capsys)[1] == "demo\ntiny\n"
    offered: list[list[str]] = []

    class Offering(readers.PromptReader):
        def __init__(self) -> None:
            self.offer: Any = None
            self.meter: Any = None

        def read(self, draft: str = "") -> str | None:
            offered.append(self.offer("/model t"))
            return None

    monkeypatch.setattr("split_client.terminal.chat.reader_for", lambda *_: Offering())
    assert run("chat", f"--url={models.url}", capsys=capsys)[0] == 0
    assert offered == [["/model tiny"]]


def test_the_doctor_examines_the_model_that_is_asked_for(
    models: SeveralModels, other: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"--url={models.url}"
    _, shown, _ = run("doctor", "--json", url, "--model=tiny", capsys=capsys)
    checks = {check["check"]: check for check in json.loads(shown)["checks"]}
    assert checks["manifest"]["facts"]["digest"] == other.manifest
    status, shown, _ = run("doctor", "--json", url, "--model=nope", capsys=capsys)
    assert (status, json.loads(shown)["problems"]) == (1, ["unknown_model"])


def _data() -> str:
    import os

    return os.environ["SPLIT_DATA"]
