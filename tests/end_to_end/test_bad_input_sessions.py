"""Steps that do not fit their session, sessions that are not there, and too many of them.

One server, three principals: the other session is Alice's, what is wrong comes from Bob and Carol.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from split_wire.attention import AttentionRequest
from split_wire.codec import encode_message
from split_wire.messages import Close, Closed, Failure, Open, Opened, Result
from tests.end_to_end.bystander import undisturbed
from tests.end_to_end.lines import KINDS, Kind, Line, Session, line_to, refusal, some_rows
from tests.server_process import RunningServer, running_server

NAMES = ("alice", "bob", "carol")
MAX_SESSIONS = 4
CONTEXT = 512
# Cache for one session of Alice's and a little more than one whole context of Bob's.
CACHE_BYTES = 800 * 3 * 2 * 2 * 16 * 4


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}-has-this-token"}


@pytest.fixture(scope="module")
def server(tiny_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text("".join(f"{name} {name}-has-this-token\n" for name in NAMES))
    with running_server(
        tiny_path,
        token_file=tokens,
        max_sessions=MAX_SESSIONS,
        max_sessions_per_principal=3,
        cache_bytes=CACHE_BYTES,
    ) as running:
        yield running


@pytest.fixture(autouse=True)
def other_session(server: RunningServer, tiny_path: Path) -> Iterator[None]:
    with undisturbed(server, tiny_path, **bearer("alice")):
        yield
    # What the tests leave open would count in the next one.
    for session in list(server.parts.steps.store._sessions.values()):
        server.parts.steps.store.close(session.principal, session.key)


@pytest.fixture(params=KINDS)
def line(request: pytest.FixtureRequest, server: RunningServer) -> Iterator[Line]:
    with line_to(server, request.param, **bearer("bob")) as bobs:
        yield bobs


@pytest.fixture
def session(server: RunningServer, line: Line) -> Session:
    """Bob's, with five cached positions."""
    session = Session(server, line)
    session.run(embeddings=some_rows(server, 5))
    return session


MISFITS: dict[str, tuple[dict[str, Any], str]] = {
    "start one beyond the cache": ({"start": 6}, "start_beyond_cache"),
    "start far beyond the cache": ({"start": CONTEXT - 1}, "start_beyond_cache"),
    "positions beyond the context": ({"start": CONTEXT}, "context_overflow"),
    "start beyond every number": ({"start": 2**53 - 1}, "context_overflow"),
    "another prefix": ({"prefix": b"\1" * 16}, "prefix_mismatch"),
    "another prefix at the start": ({"start": 0, "prefix": b"\1" * 16}, "prefix_mismatch"),
    "the number of the step before, other bytes": ({"step": 1}, "step_conflict"),
    "a number used long ago": ({"step": 0}, "step_conflict"),
    "a number that is skipped": ({"step": 3}, "step_conflict"),
    "an adapter that is not there": ({"adapter": "gardening"}, "unknown_adapter"),
    "attention of more positions than any": (
        {"attention": AttentionRequest(top_k=4097)},
        "malformed_message",
    ),
    "a session that never was": ({"session": "A" * 22}, "unknown_session"),
    "a session named like a client's own": ({"session": "name:mine"}, "unknown_session"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_step_that_does_not_fit_is_refused_and_the_next_one_runs(
    name: str, session: Session
) -> None:
    changes, code = MISFITS[name]
    assert session.refused(**changes) == code
    session.run()


def test_a_long_prompt_fills_the_context_and_one_row_more_overflows(
    session: Session, server: RunningServer
) -> None:
    session.run(start=0, embeddings=some_rows(server, CONTEXT))
    assert session.refused() == "context_overflow"
    session.run(start=CONTEXT - 1)


def test_the_same_bytes_again_are_answered_from_memory(session: Session, line: Line) -> None:
    frame = encode_message(session.message())
    answers = [line.ask(frame) for _ in range(3)]
    assert isinstance(answers[0], Result)
    assert all(answer == answers[0] for answer in answers)


def test_a_closed_session_is_unknown(session: Session, line: Line) -> None:
    assert line.ask(encode_message(Close(session.key))) == Closed(session.key)
    assert session.refused() == "unknown_session"


@pytest.mark.parametrize("kind", KINDS)
def test_somebody_elses_session_is_unknown_and_cannot_be_closed(
    kind: Kind, session: Session, server: RunningServer
) -> None:
    with line_to(server, kind, **bearer("carol")) as thief:
        frame = encode_message(session.message())
        assert refusal(thief, frame) == "unknown_session"
        assert thief.ask(encode_message(Close(session.key))) == Closed(session.key)
    session.run()


def test_the_answer_about_somebody_elses_session_gives_nothing_away(
    session: Session, server: RunningServer
) -> None:
    with line_to(server, "post", **bearer("carol")) as thief:
        stolen, missing = (
            thief.ask(encode_message(session.message(session=key)))
            for key in (session.key, "B" * len(session.key))
        )
    assert isinstance(stolen, Failure)
    assert isinstance(missing, Failure)
    assert (stolen.code, stolen.message) == (missing.code, missing.message)


def test_where_all_sessions_are_in_use_a_newcomer_waits_until_one_is_closed(
    line: Line, server: RunningServer
) -> None:
    with line_to(server, "post", **bearer("carol")) as carols, ThreadPoolExecutor(1) as pool:
        sessions = [Session(server, line) for _ in range(MAX_SESSIONS - 1)]
        waiting = pool.submit(carols.ask, encode_message(Open()))
        line.ask(encode_message(Close(sessions[0].key)))
        assert isinstance(waiting.result(timeout=30), Opened)
    sessions[1].run()
    sessions[2].run()


def test_at_the_limit_only_the_own_oldest_session_goes(line: Line, server: RunningServer) -> None:
    sessions = [Session(server, line) for _ in range(3)]
    sessions[0].run()
    for held in server.parts.steps.store._sessions.values():
        held.last_used -= 60
    newest = Session(server, line)
    assert sessions[1].refused() == "unknown_session"
    for survivor in (sessions[0], sessions[2], newest):
        survivor.run()


def test_a_cache_that_others_hold_is_full_and_nothing_is_lost(
    line: Line, server: RunningServer
) -> None:
    with line_to(server, "post", **bearer("carol")) as carols:
        held = Session(server, carols)
        held.run(embeddings=some_rows(server, CONTEXT))
        session = Session(server, line)
        session.run()
        answer = line.ask(encode_message(session.message(embeddings=some_rows(server, 300))))
        assert isinstance(answer, Failure)
        assert (answer.code, answer.retryable) == ("cache_full", True)
        session.run()
        held.run(start=CONTEXT - 1)
