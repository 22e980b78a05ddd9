"""docs/protocol.md says what the code does."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import pytest

from split_wire import attention, frame, messages
from split_wire.documents import finding
from split_wire.fields import MAX_TEXT
from split_wire.hiding import seeing
from split_wire.limits import frame_limit
from split_wire.probe import Probe
from split_wire.tiers import ALL_EXACT
from tests.split_wire.test_errors import CLASSES

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text("utf-8")
VECTORS = json.loads((ROOT / "tests" / "vectors" / "wire.json").read_text("ascii"))
MESSAGES: dict[str, type[Any]] = {
    "open": messages.Open,
    "restore": messages.Restore,
    "step": messages.Step,
    "hide": seeing.Hide,
    "show": seeing.Show,
    "splice": messages.Splice,
    "find": finding.Find,
    "close": messages.Close,
    "ping": messages.Ping,
    "opened": messages.Opened,
    "restored": messages.Restored,
    "result": messages.Result,
    "hidden": seeing.Hidden,
    "found": finding.Found,
    "closed": messages.Closed,
    "pong": messages.Pong,
    "error": messages.Failure,
}
# It has them from the step, with their defaults; none of them travels.
NOT_OF_A_SPLICE = {"rows", "adapter", "attention"}


def section(title: str) -> str:
    """The text under a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


def table(text: str) -> list[list[str]]:
    """The cells of its lines that begin with a word in backquotes."""
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_message_has_a_section_and_no_other() -> None:
    assert set(re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)) == set(MESSAGES)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_is_described_field_by_field(name: str) -> None:
    described = {cells[0].strip("`"): cells[2] for cells in table(section(f"`{name}`"))}
    wanted: dict[str, str] = {}
    for each in fields(MESSAGES[name]):
        if name == "splice" and each.name in NOT_OF_A_SPLICE:
            continue
        # A probe travels as fields of the message that has it.
        names = [part.name for part in fields(Probe)] if each.name == "probe" else [each.name]
        wanted |= dict.fromkeys(names, _default(each))
    assert described == wanted


def _default(field: Field[Any]) -> str:
    if field.name == "message":
        return "empty"  # a reader takes an error without words
    if field.name == "attention":
        return "false" if "Request" in str(field.type) else "missing"
    if field.name == "probe" and field.default is None:
        return "missing"
    if field.default is MISSING or field.name == "version":
        return "required"
    names = {
        "None": "nil",
        "True": "true",
        "'last'": "`last`",
        "'exact'": "`exact`",
        "False": "false",
        "()": "empty",
        repr(ALL_EXACT): "empty",
        "b''": "missing",
    }
    return names.get(repr(field.default), repr(field.default))


def test_every_error_is_listed_with_its_status_and_whether_to_retry() -> None:
    listed = [tuple(cells[:3]) for cells in table(section("Errors"))]
    assert sorted(listed) == sorted(
        (f"`{each.code}`", str(each.status), "yes" if each.retryable else "no") for each in CLASSES
    )


def test_the_errors_of_http_are_named() -> None:
    http = pytest.importorskip("split_server.http.wire.errors")
    for error in (http.BadRequest, http.MethodNotAllowed, http.RequestTimeout):
        assert f"`{error.code}` ({error.status}" in PAGE
        assert error.retryable == (f"`{error.code}` ({error.status}, retry)" in PAGE)


def test_the_limits_are_those_of_the_code() -> None:
    limits = section("Limits")
    for number in (
        frame.MAX_HEADER_BYTES,
        frame.MAX_ITEMS,
        frame.MAX_TENSORS,
        frame_limit(0, 0),
        MAX_TEXT,
        messages.MAX_MESSAGE_TEXT,
        messages.LARGEST_MAX_ROWS,
        messages.DEFAULT_MAX_ROWS,
        attention.LARGEST_LAYERS,
        attention.LARGEST_HEADS,
        attention.MAX_TOP_K,
        attention.LARGEST_ATTENTION_BYTES,
    ):
        assert re.search(rf"\b{number:,}\b", limits), number
    assert messages.LARGEST_MAX_CONTEXT == 2**31


def test_the_names_on_the_wire_are_those_of_the_code() -> None:
    for name in (messages.SUBPROTOCOL, messages.CONTENT_TYPE, frame.MAGIC.decode()):
        assert name in PAGE


def test_the_frames_shown_are_frames_of_the_vectors() -> None:
    blocks = re.findall(r"```hex\n(.*?)```", PAGE, re.DOTALL)
    shown = [
        "".join(line.partition("|")[0].replace(" ", "") for line in block.splitlines())
        for block in blocks
    ]
    travelled = [each["frame"] for each in VECTORS["conversation"]["frames"]]
    assert shown == [travelled[0], travelled[2], travelled[3]]


def test_the_page_ends_with_the_original_protocol() -> None:
    assert "(original-protocol.md)" in section("The original protocol")
    assert PAGE.index("## The original protocol") > PAGE.rindex("\n## A session in bytes")
