"""The client's commands against the real server with the embedded model."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from split_client.api import ChatSession, SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_client.presets.builtin import BUILTIN
from tests.end_to_end.terminal.commands import QUESTION, run, spawn, talk
from tests.server_process import RunningServer, running_server
from tests.split_client.servers import http_server, respond, unused_endpoint

TOKEN = "correct-horse-battery-staple"


def test_generate_prints_the_reply_and_nothing_else(
    server: RunningServer, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(
        "generate", QUESTION, "--url", server.url, "--temperature", "0", capsys=capsys
    )
    assert (status, out, err) == (0, answer + "\n", "")


def test_generate_reads_a_prompt_from_a_pipe(server: RunningServer, answer: str) -> None:
    process = spawn("generate", "--url", server.url, "--temperature", "0")
    out, err = process.communicate(QUESTION + "\n", timeout=60)
    assert (process.returncode, out, err) == (0, answer + "\n", "")


def test_generate_writes_one_json_object_per_token(
    server: RunningServer, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(
        "generate", QUESTION, "--url", server.url, "--json", "--temperature=0", capsys=capsys
    )
    *tokens, done = map(json.loads, out.splitlines())
    assert status == 0
    assert "".join(token["text"] for token in tokens) == done["text"] == answer
    assert {token["type"] for token in tokens} == {"token"}
    assert (done["type"], done["finish_reason"], done["tokens"]) == ("done", "eos", len(tokens))
    assert done["bytes_up"] > 0


def test_generate_continues_raw_text(
    server: RunningServer, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--raw", "--temperature", "0", "--max-tokens", "8"]
    _, out, _ = run("generate", "The device", "--url", server.url, *options, capsys=capsys)
    with SplitClient(server.url, cache=cache) as client:
        wanted = client.generate("The device", SamplingParams(), max_tokens=8).read()
    assert out == wanted + "\n"


def test_flags_reach_the_sampler(
    server: RunningServer, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ("generate", QUESTION, "--url", server.url, "--json")
    first = answer.split()[1]
    _, out, _ = run(*base, "--temperature", "0", "--stop", first, capsys=capsys)
    done = json.loads(out.splitlines()[-1])
    assert (done["finish_reason"], done["text"]) == ("stop", answer.partition(first)[0])
    _, out, _ = run(*base, "--temperature", "0", "--max-tokens", "3", capsys=capsys)
    ids = [json.loads(line)["id"] for line in out.splitlines()[:-1]]
    assert len(ids) == 3
    _, out, _ = run(*base, "--temperature=0", f"--logit-bias={ids[0]}=-100", capsys=capsys)
    assert json.loads(out.splitlines()[0])["id"] != ids[0]
    sampled = [run(*base, "--temperature", "2", "--seed", "5", capsys=capsys)[1] for _ in range(2)]
    texts = [json.loads(out.splitlines()[-1])["text"] for out in sampled]
    assert texts[0] == texts[1]


def test_only_a_chat_is_told_to_begin_a_new_one(
    server: RunningServer,
    chat: tuple[SplitClient, ChatSession],
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = "word " * 5000
    screen, _ = talk(chat, long)
    _, _, err = run("generate", long, "--url", server.url, capsys=capsys)
    assert "/new begins a new chat [prompt_too_long]" in screen.noted
    assert err.endswith("shorten it [prompt_too_long]\n")


def test_a_preset_is_taken_by_flag(
    server: RunningServer, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ("generate", QUESTION, "--url", server.url, "--temperature=0", "--max-tokens=4")
    outs = [
        run(*base, "--system", system, capsys=capsys)[1] for system in ("@brief", BUILTIN["brief"])
    ]
    assert outs[0] == outs[1] != ""
    status, _, err = run(*base, "--system", "@nope", capsys=capsys)
    assert (status, err.endswith("[preset_unknown]\n")) == (1, True)


def test_models_are_pulled_listed_and_removed(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--cache", str(tmp_path / "weights"))
    status, out, err = run("pull", "--url", server.url, *place, capsys=capsys)
    assert (status, out) == (0, "")
    assert "licence: " in err
    assert "is complete and verified" in err
    _, listed, _ = run("pull", "--list", *place, capsys=capsys)
    assert "gatelink-demo" in listed
    status, _, err = run("pull", "--remove", "gatelink-demo", *place, capsys=capsys)
    assert (status, "removed gatelink-demo" in err) == (0, True)
    _, listed, err = run("pull", "--list", *place, capsys=capsys)
    assert (listed, "no models" in err) == ("", True)


def test_a_model_that_a_chat_uses_is_not_removed(
    chat: tuple[SplitClient, ChatSession], capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run("pull", "--remove", "gatelink-demo", capsys=capsys)
    assert (status, "[model_in_use]" in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("--temperature", "hot"), 2, "bad_value"),
        (("--temperature", "-1"), 2, "bad_value"),
        (("--logit-bias", "x"), 2, "bad_value"),
        (("--url", "ftp://x"), 1, "url_invalid"),
        (("--url", "http://[::1"), 1, "url_invalid"),
        (("--token", "bad token ü"), 1, "token_invalid"),
        (("--config", "/nowhere.toml"), 2, "unreadable_file"),
    ],
)
def test_wrong_usage_is_one_line_with_a_code(
    server: RunningServer,
    arguments: tuple[str, ...],
    status: int,
    code: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ("generate", "x", "--url", server.url, *arguments)
    got, out, err = run(*given, capsys=capsys)
    assert (got, out) == (status, "")
    assert err.startswith("error: ")
    assert err.endswith(f"[{code}]\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize("prompt", [("",), (" \n",), ("", "--raw"), ("-",)])
def test_an_empty_prompt_is_refused_before_anything_is_sent(
    prompt: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with unused_endpoint() as endpoint:
        status, _, err = run("generate", *prompt, "--url", endpoint.url, capsys=capsys)
    assert (status, err.endswith("[prompt_empty]\n")) == (1, True)


def test_a_server_that_is_gone_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with unused_endpoint() as endpoint:
        status, _, err = run("generate", "x", "--url", endpoint.url, capsys=capsys)
    assert status == 1
    assert err.endswith("[server_unreachable]\n")


def test_terminal_escapes_of_a_server_do_not_reach_the_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    body = json.dumps({"error": {"code": "x\x1b[2J", "message": "y\x1b]0;t\x07\nz"}}).encode()
    with http_server(get=lambda handler: respond(handler, 403, body)) as endpoint:
        status, _, err = run("pull", "--url", endpoint.url, capsys=capsys)
    assert (status, err) == (1, "error: y z [x]\n")


def test_a_token_is_sent_or_its_lack_is_named(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_server(token=TOKEN) as server:
        base = ("generate", QUESTION, "--url", server.url, "--max-tokens", "2")
        status, _, err = run(*base, capsys=capsys)
        assert (status, err.endswith("[unauthorized]\n")) == (1, True)
        assert "this server asks for a token and none is given; pair this device" in err
        monkeypatch.setenv("SPLIT_CLIENT_TOKEN", TOKEN)
        for transport in ("websocket", "http"):
            assert run(*base, "--transport", transport, capsys=capsys)[0] == 0
        status, _, err = run(*base, "--token", "wrong", capsys=capsys)
        assert (status, "wrong" in err) == (1, False)
        assert "refuses this token" in err


def test_a_reader_that_goes_away_ends_the_command_quietly(server: RunningServer) -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run(
        [sys.executable, "-m", "split_client.cli", "generate", QUESTION, "--url", server.url],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(write)
    assert (process.returncode, process.stderr) == (1, b"")


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("--version", capsys=capsys)
    assert (status, out.startswith("split-client ")) == (0, True)


def test_help_and_the_client_load_none_of_the_servers_libraries() -> None:
    script = (
        "import sys, split_client.cli, split_client.api, split_client.terminal.chat\n"
        "print([m for m in ('torch', 'transformers', 'starlette', 'tenseal') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
