"""Scripts that real shells run."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from split_client import cli as client
from split_server import commands as server
from split_settings.completion import SHELLS, completion
from split_settings.shells import command_of

_PARSERS = {"client": client._parser(), "server": server._parser()}
_ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
$(complete -p "$1" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "${COMPREPLY[@]}"
"""


def _offers(folder: Path, *words: str, parser: argparse.ArgumentParser | None = None) -> list[str]:
    """What bash offers for the last of ``words``."""
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
    return done.stdout.split()


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


@pytest.mark.parametrize(("program", "main"), [("client", client.main), ("server", server.main)])
def test_the_command_prints_the_script(
    program: str, main: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", "bash"]) == 0
    assert capsys.readouterr().out == completion(_PARSERS[program], "bash")
