"""Scripts that real shells run."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from split_client import cli as client
from split_relay import cli as relay
from split_server import commands as server
from split_settings.completion import SHELLS, completion, name_lines
from split_settings.shells import command_of

_PARSERS = {"client": client._parser(), "server": server._parser(), "relay": relay._parser()}
_MAINS = {"client": client.main, "server": server.main, "relay": relay.main}
_ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
$(complete -p "$1" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


def _offers(folder: Path, *words: str, parser: argparse.ArgumentParser | None = None) -> list[str]:
    """What bash offers for the last of ``words``, nothing aside."""
    return [line for line in _raw_offers(folder, *words, parser=parser) if line]


def _raw_offers(
    folder: Path, *words: str, parser: argparse.ArgumentParser | None = None
) -> list[str]:
    script = folder / "completion.bash"
    script.write_text(completion(parser or _PARSERS["client"], "bash"))
    done = subprocess.run(
        ["bash", "--norc", "-u", "-c", _ASK, "bash", str(script), *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        timeout=20,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_bash_completes_commands(tmp_path: Path) -> None:
    assert _offers(tmp_path, "split-client", "p") == ["pull", "pair"]
    every = _offers(tmp_path, "split-client", "")
    assert {"chat", "generate", "pull", "doctor", "completion", "--version"} <= set(every)


def test_bash_completes_the_flags_of_one_command(tmp_path: Path) -> None:
    assert _offers(tmp_path, "split-client", "chat", "--temp") == ["--temperature"]
    assert _offers(tmp_path, "split-client", "doctor", "--temp") == []
    assert _offers(tmp_path, "split-client", "pull", "--re") == ["--remove"]


def test_bash_completes_the_values_of_a_choice(tmp_path: Path) -> None:
    assert _offers(tmp_path, "split-client", "chat", "--transport", "") == [
        "auto",
        "websocket",
        "http",
    ]
    assert _offers(tmp_path, "split-client", "chat", "--transport", "=", "h") == ["http"]
    assert _offers(tmp_path, "split-client", "chat", "--transport", "=") == [
        "auto",
        "websocket",
        "http",
    ]


def test_bash_completes_files_folders_and_nothing_that_is_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "index.toml").write_text("")
    assert set(_offers(tmp_path, "split-client", "chat", "--config", "in")) == {
        "inner",
        "index.toml",
    }
    assert _offers(tmp_path, "split-client", "chat", "--cache", "in") == ["inner"]
    assert _offers(tmp_path, "split-client", "chat", "--url", "") == []


def test_bash_completes_the_shells(tmp_path: Path) -> None:
    assert _offers(tmp_path, "split-client", "completion", "") == [*SHELLS, "-h", "--help"]


def test_bash_completes_the_server_from_its_own_parser(tmp_path: Path) -> None:
    parser = _PARSERS["server"]
    assert _offers(tmp_path, "split-server", "serve", "--max-so", parser=parser) == [
        "--max-sockets"
    ]
    assert _offers(tmp_path, "split-server", "serve", "--no-au", parser=parser) == ["--no-auth"]


def test_a_program_without_subcommands_is_completed(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser(prog="alone")
    parser.add_argument("--colour", choices=("red", "blue"), help="100%% 'bright' [or not]")
    assert _offers(tmp_path, "alone", "--co", parser=parser) == ["--colour"]
    assert _offers(tmp_path, "alone", "--colour", "b", parser=parser) == ["blue"]


def test_every_flag_that_the_parser_knows_is_in_every_script() -> None:
    program = command_of(_PARSERS["client"])
    flags = {flag.name for command in program.commands for flag in command.flags}
    for shell in SHELLS:
        script = completion(_PARSERS["client"], shell)
        for flag in flags:
            assert (f" -l {flag[2:]} " if shell == "fish" and flag[:2] == "--" else "") in script
            assert flag.lstrip("-") in script


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("program", sorted(_PARSERS))
def test_the_shell_itself_accepts_the_script(shell: str, program: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(completion(_PARSERS[program], shell))
    subprocess.run([shell, "-n", str(script)], check=True, timeout=20)


def test_fish_completes_commands_and_values(tmp_path: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    script = tmp_path / "script"
    script.write_text(completion(_PARSERS["client"], "fish"))
    ask = f"source {script}; complete -C 'split-client chat --transport '"
    done = subprocess.run(["fish", "-N", "-c", ask], capture_output=True, text=True, check=True)
    offered = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert offered == ["auto", "http", "websocket"]


@pytest.mark.parametrize("program", sorted(_PARSERS))
def test_the_command_prints_the_script(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _MAINS[program](["completion", "bash"]) == 0
    assert capsys.readouterr().out == completion(_PARSERS[program], "bash")


@pytest.mark.parametrize("program", sorted(_PARSERS))
@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_every_program_tells_its_version(
    program: str, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        _MAINS[program]([flag])
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith(f"split-{program} ")


def test_bash_completes_the_relay(tmp_path: Path) -> None:
    parser = _PARSERS["relay"]
    assert _offers(tmp_path, "split-relay", "--up", parser=parser) == ["--upstream"]
    assert _offers(tmp_path, "split-relay", "com", parser=parser) == ["completion"]
    assert _offers(tmp_path, "split-relay", "-q", "--li", parser=parser) == ["--listen"]


_NAMES = ["Trip to Rome", "Qwen/Qwen2.5", "$(touch harmed)`touch harmed`", 'it\'s; "it"']


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("pull", "--remove"), "models"),
        (("chat", "--load"), "chats"),
        (("chat", "-l"), "chats"),
    ],
)
def test_bash_completes_names_that_the_program_knows(
    words: tuple[str, str], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names come from servers and files: the shell must take them as they are."""
    lines = "".join(f"{name}\n" for name in _NAMES)
    (tmp_path / "names").write_text(lines)
    program = tmp_path / "split-client"
    program.write_text(f'#!/bin/sh\n[ "$1 $2" = "completion {what}" ] && cat {tmp_path}/names\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    quoted = _raw_offers(tmp_path, "split-client", *words, "")
    unquoted = subprocess.run(
        ["bash", "-c", "printf '%s\\n' " + " ".join(quoted)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert unquoted.stdout == lines
    assert _raw_offers(tmp_path, "split-client", *words, "Trip\\ t") == ["Trip\\ to\\ Rome"]
    assert not (tmp_path / "harmed").exists()


def test_names_are_one_a_line_and_nothing_else_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert name_lines(["a", "b\nc", "", "a", "d\x1b"]) == "a\n"
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path))
    monkeypatch.setenv("SPLIT_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    for path in ("chats/Trip to Rome.json", "hub/models--Qwen--Qwen2.5-0.5B/x", "hub/other/x"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    assert client.main(["completion", "chats"]) == client.main(["completion", "models"]) == 0
    assert server.main(["completion", "models"]) == 0
    assert capsys.readouterr().out == "Trip to Rome\nQwen/Qwen2.5-0.5B\n"
    with pytest.raises(SystemExit):
        client.main(["completion", "secrets"])
    assert "is none of bash, zsh, fish" in capsys.readouterr().err
