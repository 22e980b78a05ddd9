"""Hostile messages of every kind that the benchmark sends, some hundred of them, beside a chat."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.bench.hostile.messages import KINDS, Kind, Target
from scripts.bench.hostile.sender import Sender
from tests.end_to_end.bystander import undisturbed
from tests.server_process import RunningServer, running_server

pytestmark = pytest.mark.slow
HOSTILE, CHATTER = "hostile-has-this-token", "chatter-has-this-token"
EACH = 60


@pytest.fixture(scope="module")
def server(tiny_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text(f"hostile {HOSTILE}\nchatter {CHATTER}\n")
    with running_server(tiny_path, token_file=tokens) as running:
        yield running


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_messages_are_answered_and_leave_a_chat_alone(
    kind: Kind, server: RunningServer, tiny_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    info = server.parts.steps.info
    sender = Sender(
        Target(server.url, HOSTILE, info.name, info.hidden_size, server.manifest),
        random.Random(f"hostile/{kind}"),  # noqa: S311 - repeatable, nothing secret
    )
    with undisturbed(server, tiny_path, Authorization=f"Bearer {CHATTER}"):
        sender.send(kind, EACH)
    answers = sender.answers
    assert not answers.faults
    assert answers.codes.total() == EACH
    assert _refused(answers.codes) > EACH // 4
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def _refused(codes: Counter[str]) -> int:
    """Messages whose damage was noticed; a WebSocket's own bytes are refused without a code."""
    return codes.total() - sum(
        codes[code] for code in ("status 200", "Result", "Opened", "Pong", "pong", "config")
    )
