"""The command as a process: its words, its signals, its exit status."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from split_relay.cli import main as relay_main
from tests.split_relay.net import (
    EVERYWHERE,
    LOCAL,
    Http,
    connect,
    echo,
    free_port,
    hang_up,
    run,
    upstream,
)

Process = asyncio.subprocess.Process


@contextlib.asynccontextmanager
async def command(*arguments: str) -> AsyncIterator[Process]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith("SPLIT_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "split_relay",
        *arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ | {"PYTHONUNBUFFERED": "1", "XDG_CONFIG_HOME": os.devnull},
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def read_until(stream: asyncio.StreamReader | None, pattern: str) -> re.Match[str]:
    """Read lines until one matches."""
    assert stream is not None
    seen = ""
    while line := (await stream.readline()).decode():
        seen += line
        if match := re.search(pattern, line):
            return match
    raise AssertionError(f"{pattern} not in:\n{seen}")


async def listening_port(process: Process) -> int:
    return int((await read_until(process.stdout, r"Relaying \S+:(\d+) to"))[1])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_open_connections_end_and_exits_with_zero(number: signal.Signals) -> None:
    async def main() -> None:
        async with (
            upstream(echo) as server,
            command(
                "--listen", f"{LOCAL}:0", "--upstream", f"{LOCAL}:{server.port}", "--grace", "60"
            ) as process,
        ):
            reader, writer = await connect(await listening_port(process))
            writer.write(b"before")
            assert await reader.readexactly(6) == b"before"
            process.send_signal(number)
            await read_until(process.stderr, "stopping: up to 60 s for 1 open connections")
            writer.write(b"after")
            assert await reader.readexactly(5) == b"after"
            await hang_up(writer)
            await read_until(process.stderr, "stopped: 1 connections, 0 active, 11 B up, 11 B down")
            assert await process.wait() == 0

    run(main())


def test_a_second_signal_drops_open_connections() -> None:
    async def main() -> None:
        async with (
            upstream(echo) as server,
            command(
                "--listen", f"{LOCAL}:0", "--upstream", f"{LOCAL}:{server.port}", "--grace", "3600"
            ) as process,
        ):
            reader, writer = await connect(await listening_port(process))
            writer.write(b"x")
            assert await reader.readexactly(1) == b"x"
            process.send_signal(signal.SIGINT)
            await read_until(process.stderr, "stopping")
            process.send_signal(signal.SIGINT)
            assert await reader.read(-1) == b""
            await hang_up(writer)
            assert await process.wait() == 0

    run(main())


def test_a_signal_while_waiting_for_the_server_stops_at_once() -> None:
    async def main() -> None:
        listen, server = f"{EVERYWHERE}:0", f"{LOCAL}:{free_port()}"
        async with command("--listen", listen, "--upstream", server) as process:
            await read_until(process.stderr, "waiting up to 60 s")
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0

    run(main())


def test_an_open_server_is_refused_in_words_and_open_warns() -> None:
    async def main() -> None:
        async with upstream(Http(200)) as server:
            flags = ["--listen", f"{EVERYWHERE}:0", "--upstream", f"{LOCAL}:{server.port}"]
            async with command(*flags) as process:
                await read_until(process.stderr, "does not ask for a token .* got 200, not 401")
                assert await process.wait() == 1
            async with command(*flags, "--open", "--quiet") as process:
                await read_until(
                    process.stderr, "WARNING --open: nothing checks that the server asks"
                )
                process.send_signal(signal.SIGTERM)
                out, _ = await process.communicate()
                assert out == b""
                assert process.returncode == 0

    run(main())


def test_without_a_terminal_the_address_is_printed_and_no_code_drawn() -> None:
    async def main() -> None:
        async with (
            upstream(Http(401)) as server,
            command(
                "--listen", f"{EVERYWHERE}:0", "--upstream", f"{LOCAL}:{server.port}"
            ) as process,
        ):
            await listening_port(process)
            assert process.stdout is not None
            seen = (await process.stdout.readuntil(b"Ctrl-C")).decode()
            assert "phone" in seen
            assert "\x1b" not in seen
            assert "█" not in seen

    run(main())


def test_on_a_terminal_a_code_is_drawn_for_the_phone() -> None:
    async def main() -> None:
        async with upstream(Http(401)) as server:
            text = await asyncio.to_thread(_on_terminal, server.port)
            assert ("█" in text) == ("Open on the phone:  http://" in text)

    run(main())


def _on_terminal(port: int) -> str:
    """What the command writes to a terminal, up to its last line."""
    leader, follower = pty.openpty()
    flags = ["--listen", f"{EVERYWHERE}:0", "--upstream", f"{LOCAL}:{port}"]
    with subprocess.Popen(
        [sys.executable, "-m", "split_relay", *flags],
        stdout=follower,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TERM": "xterm", "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"},
    ) as process:
        os.close(follower)
        seen = b""
        while b"Ctrl-C stops" not in seen:
            seen += os.read(leader, 65536)
        process.terminate()
    os.close(leader)
    return seen.decode()


def test_bad_settings_exit_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        relay_main(["--listen", "9095"])
    assert caught.value.code == 2
    assert "--listen: '9095' is not an address: a port is missing" in capsys.readouterr().err


def test_a_file_sets_what_flags_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[relay]\nlisten = "127.0.0.1:99999"\n')
    with pytest.raises(SystemExit):
        relay_main(["--config", str(file)])
    assert f"{file}, relay.listen: '127.0.0.1:99999' is not an address" in capsys.readouterr().err
