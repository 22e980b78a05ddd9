"""The client's commands against the real server with the embedded model."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from split_client import cli
from split_client.api import ChatSession, Choice, SplitClient
from split_client.errors import ServerRefused
from split_client.generation.sampling.params import SamplingParams
from split_client.presets.builtin import BUILTIN
from split_client.presets.folder import PresetFolder
from split_client.terminal.chat import ChatLoop
from split_client.terminal.commands.line import Folders
from tests.server_process import RunningServer, running_server
from tests.split_client.servers import http_server, respond, unused_endpoint
from tests.split_client.terminal.consoles import RecordingScreen, TypedReader
from tests.split_client.terminal.output.markdown.streams import SGR

QUESTION = "What is split inference?"
TOKEN = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
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


@pytest.fixture(scope="module")
def answer(server: RunningServer, cache: Path) -> str:
    """What the model says to QUESTION at greedy."""
    with SplitClient(server.url, cache=cache) as client:
        return client.chat([{"role": "user", "content": QUESTION}], SamplingParams()).read()


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    try:
        status = cli.main(arguments)
    except SystemExit as exit_:
        status = int(exit_.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def spawn(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "split_client.cli", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


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


def test_a_chat_in_a_pipe_answers_line_by_line(server: RunningServer, answer: str) -> None:
    process = spawn("chat", "--url", server.url, "--temperature", "0")
    out, err = process.communicate(f"{QUESTION}\n/retry\n/nope\n/quit\nnever\n", timeout=60)
    assert (process.returncode, out) == (0, f"{answer}\n{answer}\n")
    assert err == "error: there is no /nope; see /help [setting_invalid]\n"


def test_two_slashes_send_a_message_that_begins_with_one(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    chat[1].max_tokens = 2
    talk(chat, "//etc is a folder")
    assert chat[1].messages[0].content == "/etc is a folder"


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


@pytest.fixture(scope="module")
def client(server: RunningServer, cache: Path) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=cache) as client:
        yield client


@pytest.fixture
def chat(client: SplitClient) -> tuple[SplitClient, ChatSession]:
    session = client.conversation()
    session.params = SamplingParams()
    return client, session


@pytest.fixture(scope="module")
def beginning(client: SplitClient) -> str:
    """The first words of what the model says to QUESTION at greedy."""
    message = [{"role": "user", "content": QUESTION}]
    return client.chat(message, SamplingParams(), max_tokens=4).read()


def talk(
    chat: tuple[SplitClient, ChatSession],
    *lines: str | type[BaseException],
    interactive: bool = False,
    folders: Folders | None = None,
    autosave: bool = False,
) -> tuple[RecordingScreen, TypedReader]:
    screen, reader = RecordingScreen(interactive), TypedReader(list(lines))
    loop = ChatLoop(*chat, reader, screen, folders)
    loop.autosave = autosave
    loop.run()
    return screen, reader


def test_commands_move_the_chat(
    chat: tuple[SplitClient, ChatSession], answer: str, tmp_path: Path
) -> None:
    path = tmp_path / "chat.json"
    screen, reader = talk(
        chat,
        QUESTION,
        f"/save {path}",
        "/new",
        f'/load "{path}"',
        "/edit",
        "/undo",
        QUESTION,
        f"/edit {QUESTION}",
        "/system Be brief.",
        "/system none",
        "/stats",
        "/HELP",
        "/?",
    )
    assert screen.shown.startswith(f"{answer}\n{answer}\n{answer}\n")
    assert "/retry" in screen.shown
    assert QUESTION in reader.drafts
    assert [message.content for message in chat[1].messages] == [QUESTION, answer]
    for words in ("saved 2 messages", "loaded 2 messages", "no system message", "exchanges over"):
        assert words in screen.noted
    assert "error" not in screen.noted


def test_a_chat_is_kept_by_name_found_and_continued(
    chat: tuple[SplitClient, ChatSession], answer: str
) -> None:
    screen, _ = talk(
        chat,
        QUESTION,
        "/save Split basics",
        "/new",
        "/chats HIDDEN states",
        "/load spl",
        "/save",
        "/rename Was ist das",
        "/chats nothing of that kind",
        "/delete was",
        "/delete Was ist das",
        "/chats",
    )
    assert [message.content for message in chat[1].messages] == [QUESTION, answer]
    listed = screen.shown.removeprefix(f"{answer}\n").splitlines()
    assert listed[0] == "Split basics"
    assert listed[1].endswith("2 messages")
    assert "model: " in listed[2]
    assert "idden states" in listed[2]
    assert screen.noted.splitlines() == [
        "saved 2 messages as “Split basics”; /load brings it back",
        "a new chat",
        "loaded 2 messages of “Split basics”",
        "saved 2 messages as “Split basics”; /load brings it back",
        "“Split basics” is now “Was ist das”",
        "no saved chat has “nothing of that kind”",
        "error: there is no saved chat 'was'; /chats lists them [chat_unknown]",
        "deleted “Was ist das”",
        "the server deleted 56 tokens of this chat",
        "no chats",
    ]


def test_a_chat_that_was_not_loaded_does_not_replace_a_saved_one(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    chat[1].max_tokens = 2
    screen, _ = talk(chat, QUESTION, "/save One", "/new", "Hello", "/save One", "/load One")
    assert "[chat_exists]" in screen.noted
    assert chat[1].messages[0].content == QUESTION


def test_saving_an_emptied_chat_loses_nothing(
    chat: tuple[SplitClient, ChatSession], tmp_path: Path
) -> None:
    chat[1].max_tokens = 2
    path = tmp_path / "chat.json"
    screen, _ = talk(
        chat,
        "/save Nothing",
        QUESTION,
        "/save Trip",
        f"/save {path}",
        "/system Be brief.",
        "/undo",
        "/save",
        f"/save {path}",
        "/load Trip",
    )
    assert screen.noted.count("[chat_empty]") == 3
    assert "'Trip' stays as it was" in screen.noted
    assert "loaded 2 messages of “Trip”" in screen.noted
    assert len(json.loads(path.read_text())["messages"]) == 2


def test_autosave_keeps_every_chat_once(
    chat: tuple[SplitClient, ChatSession], tmp_path: Path
) -> None:
    chat[1].max_tokens = 2
    screen, _ = talk(chat, "Hello", "Again", "/new", "Hello", autosave=True)
    assert screen.noted.count("kept as “") == 2
    names = sorted(path.stem for path in (tmp_path / "data" / "chats").iterdir())
    assert [name[10:] for name in names] == [" Hello", " Hello (2)"]
    sizes = [
        len(json.loads(path.read_text())["messages"])
        for path in (tmp_path / "data" / "chats").iterdir()
    ]
    assert sorted(sizes) == [2, 4]


def test_presets_set_the_system_message(
    chat: tuple[SplitClient, ChatSession], tmp_path: Path
) -> None:
    folders = Folders(presets=PresetFolder(tmp_path / "presets"))
    screen, _ = talk(
        chat,
        "/preset save x",
        "/system @brief",
        "/system @nope",
        "/preset save Mine",
        "/system none",
        "/system @mine",
        "/presets",
        folders=folders,
    )
    assert chat[1].conversation.system == BUILTIN["brief"]
    assert "@mine (yours)" in screen.shown
    assert "[preset_unknown]" in screen.noted
    assert "error: there is no system message to keep" in screen.noted


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


def test_a_device_whose_token_is_taken_back_in_a_chat_is_told_to_pair_again(
    chat: tuple[SplitClient, ChatSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: str) -> None:
        raise ServerRefused("unauthorized", "a valid token is needed")

    monkeypatch.setattr(chat[1], "send", refuse)
    screen, _ = talk(chat, QUESTION)
    assert "/save NAME keeps this chat, then pair again: split-server pair there" in screen.noted
    assert screen.noted.endswith("[unauthorized]\n")


@pytest.mark.parametrize("columns", [40, 80])
def test_lists_and_panels_fit_the_terminal(
    chat: tuple[SplitClient, ChatSession], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    chat[1].max_tokens = 8
    lines = ["/help", "/server", "/presets", QUESTION, "/save A chat", "/chats", "/set", "/load A"]
    screen, _ = talk(chat, *lines, interactive=True)
    shown = SGR.sub("", screen.shown)
    assert "error" not in screen.noted
    assert all(len(line) < columns for line in shown.split("\n"))
    assert "What the server can learn" in shown
    assert f"> {QUESTION}" in shown


def test_the_panel_counts_what_travelled(chat: tuple[SplitClient, ChatSession]) -> None:
    client, session = chat
    session.drafts = "off"
    screen, _ = talk(chat, QUESTION, "/server", "/panel")
    answered = session.answered
    assert answered is not None
    sent = len(answered.ids) - 1
    assert screen.shown.count(f"{sent} embedding rows of {client.manifest.hidden_size}") == 2
    assert f"holds {session.cached_tokens} positions" in screen.shown


def test_a_mistyped_command_is_guessed(chat: tuple[SplitClient, ChatSession]) -> None:
    screen, _ = talk(chat, "/chast", "/zzz")
    assert "did you mean /chats?" in screen.noted
    assert "there is no /zzz; see /help" in screen.noted


def test_settings_are_shown_and_changed(chat: tuple[SplitClient, ChatSession]) -> None:
    screen, _ = talk(
        chat, "/set", "/set temperature 0.5", "/set max-tokens 4", "/set stop END", "/set seed 3"
    )
    session = chat[1]
    assert session.params is not None
    assert (session.params.temperature, session.params.seed) == (0.5, 3)
    assert (session.max_tokens, session.stop) == (4, ("END",))
    assert "temperature 0.5 · top_p 1" in screen.noted


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("/unknown", "setting_invalid"),
        ("/set temperature", "setting_invalid"),
        ("/set temperature warm", "setting_invalid"),
        ("/set temperature -1", "invalid_sampling_parameter"),
        ("/set nothing 1", "setting_invalid"),
        ("/set max_tokens 0", "setting_invalid"),
        ("/set max_tokens 99999999", "setting_invalid"),
        ("/save", "setting_invalid"),
        ("/save a/../b\x00", "setting_invalid"),
        ("/load ./\ud800.json", "setting_invalid"),
        ("/save CON", "chat_name_invalid"),
        ("/load", "setting_invalid"),
        ("/load nobody", "chat_unknown"),
        ("/rename x", "setting_invalid"),
        ("/delete", "setting_invalid"),
        ("/set markdown maybe", "setting_invalid"),
        ("/set theme pink", "setting_invalid"),
        ("/preset", "setting_invalid"),
        ("/server now", "setting_invalid"),
        ("/load /nowhere/chat.json", "conversation_file_invalid"),
    ],
)
def test_a_wrong_command_is_one_line_and_the_chat_goes_on(
    chat: tuple[SplitClient, ChatSession], beginning: str, line: str, code: str
) -> None:
    chat[1].max_tokens = 4
    screen, _ = talk(chat, line, QUESTION)
    assert screen.noted.startswith("error: ")
    assert f"[{code}]\n" in screen.noted
    assert screen.shown == beginning + "\n"


def test_ctrl_c_at_the_prompt_leaves_only_the_second_time(
    chat: tuple[SplitClient, ChatSession],
) -> None:
    screen, reader = talk(chat, KeyboardInterrupt, "/set", KeyboardInterrupt, KeyboardInterrupt)
    assert screen.noted.count("Ctrl-C again") == 2
    assert len(reader.drafts) == 4


def test_ctrl_c_stops_a_reply_and_keeps_the_chat(server: RunningServer, answer: str) -> None:
    process = spawn("chat", "--url", server.url, "--temperature", "0")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(QUESTION + "\n")
    process.stdin.flush()
    # Past the buffers of the pipe's file object, which communicate() does not look into.
    beginning = os.read(process.stdout.fileno(), 8).decode()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate("/retry\n", timeout=60)
    assert (process.returncode, err) == (0, "")
    stopped, again = (beginning + out).splitlines()
    assert answer.startswith(stopped)
    assert again == answer


def test_cancelling_ends_a_reply_after_the_token_at_hand(
    chat: tuple[SplitClient, ChatSession], answer: str
) -> None:
    client, session = chat
    reply = session.send(QUESTION)
    for count, _ in enumerate(reply.events()):
        if count == 4:
            client.cancel()
    assert (reply.finish_reason, len(reply.token_ids)) == ("cancelled", 5)
    assert answer.startswith(reply.text)
    assert session.messages[-1].content == reply.text


def test_cancelling_while_a_prompt_is_made_ends_its_reply(
    chat: tuple[SplitClient, ChatSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, session = chat
    make = session.conversation.prompt
    monkeypatch.setattr(session.conversation, "prompt", lambda: (client.cancel(), make())[1])
    reply = session.send(QUESTION)
    assert (reply.read(), reply.finish_reason) == ("", "cancelled")


def test_cancelling_while_a_form_is_compiled_ends_its_reply(
    chat: tuple[SplitClient, ChatSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = chat
    compiled = client.ends.forms.constraint
    monkeypatch.setattr(
        client.ends.forms, "constraint", lambda form: (client.cancel(), compiled(form))[1]
    )
    reply = client.generate("It is ", form=Choice(("one", "two")))
    assert (reply.read(), reply.finish_reason) == ("", "cancelled")
    monkeypatch.undo()
    assert client.generate("It is ", form=Choice(("one", "two"))).read() in ("one", "two")


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
