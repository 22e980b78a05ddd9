"""``split-server cache`` against a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_server.commands import main
from tests.server_process import RunningServer, running_server

TEXT = "What is split inference? " * 12
TOKENS = {"ann": "a" * 32, "bob": "b" * 32}


@pytest.fixture(scope="module")
def token_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tokens") / "tokens"
    file.write_text("".join(f"{name} {token}\n" for name, token in TOKENS.items()))
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def server(token_file: Path) -> Iterator[RunningServer]:
    with running_server(token_file=token_file) as running:
        yield running


def warmed(server: RunningServer, name: str, salt: str | None = None) -> None:
    """Have something kept for ``name``."""
    head = {"Authorization": f"Bearer {TOKENS[name]}"}
    with server.client(headers=head) as client:
        body = {"prompt": TEXT, "cache_salt": salt}
        assert client.post("/v1/warm", json=body).status_code == 200


def cache(server: RunningServer, *arguments: str) -> int:
    return main(["cache", *arguments, "--port", str(server.port)])


def test_it_lists_and_purges_what_is_kept_for_one_token(
    server: RunningServer, token_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warmed(server, "ann")
    mine = ("--token-file", str(token_file), "--name", "ann")
    assert cache(server, "list", "--json", *mine) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["runs"] >= 1
    assert cache(server, "list", *mine) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"http://127.0.0.1:{server.port}\n  memory: {figures['runs']} run")
    assert "goes after 3,600 s without use" in told
    assert cache(server, "purge", *mine) == 0
    assert f"deleted {figures['runs']} run" in capsys.readouterr().out
    assert cache(server, "purge", *mine) == 0
    assert capsys.readouterr().out == "deleted 0 runs, 0 bytes\n"


def test_a_salt_is_purged_alone(server: RunningServer, capsys: pytest.CaptureFixture[str]) -> None:
    warmed(server, "bob", "one")
    warmed(server, "bob", "two")
    mine = ("--token", TOKENS["bob"])
    assert cache(server, "purge", "--salt", "one", *mine) == 0
    assert "deleted 0" not in capsys.readouterr().out
    assert cache(server, "list", "--json", *mine) == 0
    assert json.loads(capsys.readouterr().out)["runs"] >= 1


def test_a_check_prints_a_row_for_each_way_and_passes(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cache(server, "verify", "--token", TOKENS["ann"]) == 0
    head, *rows, verdict = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["prompt", "tokens", "way"]
    assert [row.split()[2] for row in rows] == ["warm", "parked"] * 3
    assert verdict.startswith("ok (")


def prompts(folder: Path, *lines: str) -> str:
    file = folder / "prompts.jsonl"
    file.write_text("\n".join(lines))
    return str(file)


def test_a_check_takes_the_prompts_of_a_file(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = {"messages": [{"role": "system", "content": TEXT}]}
    file = prompts(tmp_path, json.dumps({"prompt": TEXT}), "", json.dumps(chat))
    assert cache(server, "verify", "--prompts", file, "--token", TOKENS["ann"]) == 0
    _, *rows, verdict = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows] == ["1", "1", "2", "2"]
    assert verdict.startswith("ok (")


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "{}",
        '{"prompt": "secret", "prompt": "secret"}',
        '{"prompt": "secret", "messages": []}',
        '{"prompt": "secret", "promt": 1}',
        '{"prompt": "secret", "pin_seconds": 5}',
    ],
)
def test_a_line_that_is_no_prompt_is_named_and_never_shown(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    file = prompts(tmp_path, '{"prompt": "Once"}', line)
    assert cache(server, "verify", "--prompts", file, "--token", TOKENS["ann"]) == 1
    told = capsys.readouterr().err
    assert "line 2 of" in told
    assert "[prompts_file_invalid]" in told
    assert "secret" not in told


def test_a_file_that_is_none_or_empty_or_too_long_is_refused_in_words(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = ("--token", TOKENS["ann"])
    for file in (str(tmp_path / "none"), str(tmp_path), prompts(tmp_path, "")):
        assert cache(server, "verify", "--prompts", file, *mine) == 1
        assert "[prompts_file_invalid]" in capsys.readouterr().err
    many = prompts(tmp_path, *['{"prompt": "Once"}'] * 9)
    assert cache(server, "verify", "--prompts", many, *mine) == 1
    assert "9 prompts; 1 to 8 are run" in capsys.readouterr().err


def test_a_prompt_that_the_server_refuses_is_told_in_its_words(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = ("--token", TOKENS["ann"])
    for line, word in (('{"prompt": "Once"}', "prompts[0]"), ('{"prompt": [-1]}', "token ids")):
        assert cache(server, "verify", "--prompts", prompts(tmp_path, line), *mine) == 1
        assert word in capsys.readouterr().err


def test_prompts_belong_to_a_check_alone(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = prompts(tmp_path, '{"prompt": "Once"}')
    assert cache(server, "list", "--prompts", file, "--token", TOKENS["ann"]) == 2
    assert "--prompts belongs to" in capsys.readouterr().err


def test_a_check_where_nothing_is_reused_has_exit_status_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with running_server(kv_reuse="off") as off:
        assert cache(off, "list") == 0
        assert "nothing is kept" in capsys.readouterr().out
        assert cache(off, "verify") == 1
        told = capsys.readouterr().out
    assert "prompt 1, warm: nothing was reused" in told
    assert told.splitlines()[-1].startswith("not ok (")


def test_whose_token_it_is_must_be_said_where_there_are_several(
    server: RunningServer, token_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cache(server, "list", "--token-file", str(token_file)) == 1
    assert "--name" in capsys.readouterr().err
    assert cache(server, "list", "--token-file", str(token_file), "--name", "eve") == 1
    told = capsys.readouterr().err
    assert "no token of 'eve'" in told
    assert not any(token in told for token in TOKENS.values())


def test_a_refusal_says_why(server: RunningServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert cache(server, "list") == 1
    assert "[refused]" in capsys.readouterr().err
    assert cache(server, "list", "--salt", "one") == 2
    assert "--salt" in capsys.readouterr().err
    assert cache(server, "list", "--name", "ann") == 2
    assert "--token-file" in capsys.readouterr().err


def test_a_token_goes_to_nobody_but_the_server_of_the_settings(
    tiny_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state, other = tmp_path / "state", tmp_path / "other"
    settings = ("--tls", "on", "--token", TOKENS["ann"])
    with running_server(tiny_path, tls="on", state=state, token=TOKENS["ann"]) as secure:
        assert cache(secure, "list", *settings, "--state", str(state)) == 0
        assert "memory: 0 runs" in capsys.readouterr().out
        files = [str(state / name) for name in ("server.pem", "server.key")]
        given = ("--tls-cert", files[0], "--tls-key", files[1], "--state", str(other))
        assert cache(secure, "list", *settings, *given) == 0
        assert cache(secure, "list", *settings, "--state", str(other)) == 1
        assert "[other_server]" in capsys.readouterr().err


def test_where_nothing_listens_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "list", "--port", "1"]) == 1
    assert "[unhealthy]" in capsys.readouterr().err
