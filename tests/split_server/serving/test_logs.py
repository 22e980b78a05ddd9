"""Log lines in both forms."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from split_server.serving.logs import JsonFormatter, TextFormatter


def _record(message: str, *arguments: object, **changes: Any) -> logging.LogRecord:
    record = logging.LogRecord(
        "split_server.room", logging.WARNING, "file.py", 1, message, arguments, None
    )
    record.created, record.msecs = 1_700_000_000.25, 250.0
    for name, value in changes.items():
        setattr(record, name, value)
    return record


def test_a_line_has_time_level_logger_and_message() -> None:
    line = JsonFormatter().format(_record("%d steps", 3))
    assert json.loads(line) == {
        "time": "2023-11-14T22:13:20.250Z",
        "level": "warning",
        "logger": "split_server.room",
        "message": "3 steps",
    }


def test_whatever_a_message_holds_stays_on_one_line_of_ascii() -> None:
    line = JsonFormatter().format(_record("%s", 'a\nb\r\u2028\x1b[31m"c'))
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert json.loads(line)["message"] == 'a\nb\r\u2028\x1b[31m"c'


def test_a_request_has_its_fields() -> None:
    fields = {"method": "GET", "path": "/x", "status": 404, "milliseconds": 0.4, "code": "gone"}
    line = JsonFormatter().format(_record("line", request=fields))
    assert json.loads(line)["request"] == fields


def test_a_traceback_is_a_field() -> None:
    try:
        int("of a test")
    except ValueError:
        line = JsonFormatter().format(_record("failed", exc_info=sys.exc_info()))
    assert len(line.splitlines()) == 1
    assert json.loads(line)["exception"].endswith("'of a test'")


def _lines(form: str) -> list[str]:
    """What a process writes that logs in ``form`` from information on."""
    program = (
        "import logging, sys; from split_server.serving.logs import configure_logs;"
        "configure_logs(sys.argv[1], 'info');"
        "log = logging.getLogger('split_server.x'); log.debug('no'); log.info('yes');"
        "logging.getLogger('other').info('no'); logging.getLogger('other').warning('also')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, form], capture_output=True, text=True, check=True
    )
    assert not done.stdout
    return done.stderr.splitlines()


def test_ours_are_written_from_the_level_on_and_others_from_warnings_on() -> None:
    first, second = _lines("text")
    assert first.endswith("INFO split_server.x: yes")
    assert second.endswith("WARNING other: also")


def test_json_lines_are_json_for_all_loggers() -> None:
    assert [json.loads(line)["message"] for line in _lines("json")] == ["yes", "also"]


def test_a_server_with_the_flag_writes_json_lines_alone(tiny_path: Path) -> None:
    program = "import sys; from split_server.cli import main; sys.exit(main())"
    flags = ("--model", str(tiny_path), "--port", "0", "--log-format", "json", "--no-compat")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SPLIT_")}
    with subprocess.Popen(
        [sys.executable, "-c", program, "serve", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            assert process.stdout is not None
            announced = (re.fullmatch(r"listening on (\S+)\n", line) for line in process.stdout)
            address = next(found[1] for found in announced if found)
            httpx.get(f"{address}/nothing", trust_env=False)
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    lines = [json.loads(line) for line in errors.splitlines()]
    assert all({"time", "level", "logger", "message"} <= set(line) for line in lines)
    (refused,) = [line["request"] for line in lines if "request" in line]
    assert refused["path"] == "/nothing"
    assert refused["code"] == "not_found"


def test_a_line_for_people_obeys_no_control_character() -> None:
    line = TextFormatter().format(_record("tensor %s", "\x1b]0;owned\x07"))
    assert line.endswith("split_server.room: tensor \\x1b]0;owned\\x07")
