"""Forms from the command line and in the chat: what is printed, and what a mistake is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client import SplitClient, cli
from split_client.terminal.chat import ChatLoop
from tests.server_process import RunningServer, running_server
from tests.split_client.terminal.consoles import RecordingScreen, TypedReader

QUESTION = "Tell me about Ada and her dog."
PERSON = (
    '{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],'
    ' "additionalProperties": false}'
)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))
    (tmp_path / "config.toml").write_text("")
    monkeypatch.setenv("SPLIT_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    try:
        status = cli.main(arguments)
    except SystemExit as exit_:
        status = int(exit_.code or 0)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_each_flag_gives_the_reply_its_form(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "person.json").write_text(PERSON)
    (tmp_path / "list.lark").write_text('start: ("- " /[a-z]{1,5}/ "\\n"){2}')
    (tmp_path / "move").write_text('root ::= "go " ("on" | "back")')
    common = ("generate", QUESTION, "--url", server.url, "--max-tokens", "60")
    for flags, ok in (
        (("--json-schema", "person.json"), lambda text: [*json.loads(text)] == ["name"]),
        (("--json-object",), lambda text: isinstance(json.loads(text), dict)),
        (("--regex", "[a-z]{3}!"), lambda text: len(text.strip()) == 4),
        (("--grammar", "list.lark"), lambda text: text.count("- ") == 2),
        (("--grammar", "move", "--raw"), lambda text: text.strip() in ("go on", "go back")),
        (("--choice", "yes", "--choice", "no"), lambda text: text.strip() in ("yes", "no")),
    ):
        status, out, err = run(*common, *flags, capsys=capsys)
        assert (status, err) == (0, ""), flags
        assert ok(out), (flags, out)


def test_a_reply_that_is_cut_is_printed_and_told(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ("generate", QUESTION, "--url", server.url, "--max-tokens", "5")
    status, out, err = run(*common, "--regex", "[a-z]{90}", capsys=capsys)
    assert status == 1
    assert out.strip().isalpha()
    assert err.startswith("error: the reply was cut")
    assert err.endswith("[reply_cut]\n")


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        (("--json-schema", "broken.json"), "invalid_schema", "line 2, column 3"),
        (("--json-schema", "list.json"), "invalid_schema", "not an object"),
        (("--json-schema", "missing.json"), "invalid_schema", "missing.json: "),
        (("--json-schema", "large.json"), "invalid_schema", "256 kB"),
        (("--json-schema", "deep.json"), "invalid_schema", "deeper than 64"),
        (("--json-schema", "not.json"), "invalid_schema", "not at #/properties/a cannot"),
        (("--regex", "a(?!b)"), "form_invalid", "look-around"),
        (("--regex", ""), "form_invalid", "empty"),
        (("--grammar", "wrong.lark"), "form_invalid", "line 2, column 4"),
        (("--grammar", "endless.lark"), "form_endless", "has no end"),
        (("--grammar", "wrong.gbnf"), "form_invalid", "grammar"),
        (("--regex", "[^\\s\\S]"), "form_impossible", "no text"),
        (("--choice", ""), "form_invalid", "empty"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_are_told_in_one_line_and_end_with_status_2(
    server: RunningServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    flags: tuple[str, ...],
    code: str,
    said: str,
) -> None:
    for name, text in {
        "broken.json": '{"type": "object",\n  }',
        "list.json": "[]",
        "large.json": " " * (256 * 1024 + 1),
        "deep.json": '{"items":' * 70 + "{}" + "}" * 70,
        "not.json": '{"type": "object", "properties": {"a": {"not": {}}}}',
        "wrong.lark": "start: a\na: b\n",
        "endless.lark": 'start: "a" start',
        "wrong.gbnf": 'root ::= "a\n',
    }.items():
        (tmp_path / name).write_text(text)
    status, out, err = run("generate", "Hi", "--url", server.url, *flags, capsys=capsys)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.endswith(f"[{code}]\n")
    assert said in err


def test_two_forms_at_once_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run("generate", "Hi", "--json-object", "--regex", "a", capsys=capsys)
    assert status == 2
    assert "not allowed with" in err


def test_a_chat_changes_its_form(server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "person.json").write_text(PERSON)
    lines: list[str | type[BaseException]] = [
        "/form choice left | right",
        QUESTION,
        '/form schema "person.json"',
        QUESTION,
        "/form regex a(?=b)",
        "/form regex [0-9",
        "/form",
        "/form xml",
        "/form none",
    ]
    screen = RecordingScreen()
    with SplitClient(server.url) as client:
        chat = client.conversation(max_tokens=60)
        ChatLoop(client, chat, TypedReader(lines), screen).run()
        replies = [message.content for message in chat.messages if message.role == "assistant"]
        refused = client.conversation(max_tokens=60)
        refused.form = None
    assert replies[0] in ("left", "right")
    assert [*json.loads(replies[1])] == ["name"]
    assert screen.noted.count("[form_invalid]") == 2
    assert screen.noted.count("JSON of a schema") == 2
    for told in ("one of 2 texts", "JSON of a schema", "followed by schema FILE", "any form"):
        assert told in screen.noted
    assert chat.form is None
