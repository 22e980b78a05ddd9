"""Programs as tools: hanging ones, loud ones, failing ones, and what they are told."""

from __future__ import annotations

import json
import os
import select
import sys
from pathlib import Path
from typing import Any

import pytest

from split_client.tools.commands import Command, minimal_environment, split_command
from split_client.tools.errors import ToolsInvalid
from split_client.tools.running import MAX_RESULT, result_text


def run(source: str, arguments: dict[str, Any] | None = None, seconds: float = 30.0) -> str:
    return Command([sys.executable, "-c", source], seconds)(arguments or {})


def test_arguments_come_as_json_on_standard_input() -> None:
    echo = "import json, sys; print(json.load(sys.stdin)['to'][::-1])"
    assert run(echo, {"to": "; rm -rf $HOME `x`"}) == "`x` EMOH$ fr- mr ;\n"


def test_no_shell_reads_the_command() -> None:
    words = split_command(f"{sys.executable} -c 'import sys; print(sys.argv[1:])' $HOME ';' '*'")
    assert Command(words)({}) == "['$HOME', ';', '*']\n"


def test_it_gets_none_of_our_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLIT_CLIENT_TOKEN", "secret")
    monkeypatch.setenv("HF_TOKEN", "secret")
    names = json.loads(run("import json, os; print(json.dumps(dict(os.environ)))"))
    assert "secret" not in names.values()
    assert names.keys() <= {*minimal_environment(), "LC_CTYPE"}


def test_one_that_hangs_is_stopped_with_what_it_started(tmp_path: Path) -> None:
    path = tmp_path / "alive"
    os.mkfifo(path)
    alive = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    child = f"import time; f = open({str(path)!r}, 'w'); f.write('x'); f.flush(); time.sleep(600)"
    hang = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    told = run(hang, seconds=1.5)
    assert told == "error: it took longer than 1.5 s and was stopped"
    assert os.read(alive, 1) == b"x"
    # At an end is what nobody has open for writing any more.
    assert select.select([alive], [], [], 20.0)[0]
    assert os.read(alive, 1) == b""
    os.close(alive)


def test_of_ten_megabytes_the_beginning_is_kept() -> None:
    told = result_text(run("import sys; sys.stdout.write('x' * 10_000_000)"))
    assert told.startswith("xxx")
    assert len(told) < MAX_RESULT + 100


def test_arguments_that_it_does_not_read_hold_nobody_up() -> None:
    assert run("print('done')", {"to": "x" * 1_000_000}) == "done\n"


def test_one_that_leaves_its_output_open_in_another_is_not_waited_for() -> None:
    left = "import subprocess, sys; print('done', flush=True)\n"
    left += "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
    assert run(left, seconds=20.0) == "done\n"


def test_a_failure_says_how() -> None:
    told = run("import sys; print('half'); print('no money', file=sys.stderr); sys.exit(3)")
    assert told == "error: it ended with status 3\nhalf\nno money"
    assert Command(["/nowhere/at/all"])({}).startswith("error: it cannot be started")


@pytest.mark.parametrize("text", ["", "  ", "'", "no-such-program-at-all x"])
def test_a_command_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ToolsInvalid):
        split_command(text)
