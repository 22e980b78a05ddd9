"""Encrypted adapters from the device: exact, repaired when the host forgets, never skipped."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from split_client.adapters.errors import UnknownAdapter
from split_client.crypto.errors import (
    AdapterHostRefused,
    AdapterHostUnreachable,
    AdapterOutOfRange,
)
from split_client.errors import Cancelled
from split_client.transport.endpoint import Endpoint
from split_client.transport.known import KnownServers
from tests.adapter_hosts import RunningHost, made_host, running_host
from tests.split_client.crypto.correcting import (
    FILE,
    HIDDEN,
    SHORT,
    corrected,
    empty_sequence,
    hosted,
    opened_sessions,
    reference,
)


def test_the_corrected_state_is_the_adapters_in_float64(served: RunningHost) -> None:
    adapters = hosted(served.url)
    for hidden in HIDDEN:
        state = corrected(adapters, hidden)
        assert state.dtype == np.float32
        expected = reference(hidden)
        error = np.linalg.norm(state - expected) / np.linalg.norm(expected)
        assert error < 1e-4
    adapters.close()


def test_only_adapters_that_fit_the_model_are_offered(served: RunningHost) -> None:
    adapters = hosted(served.url)
    assert [about.name for about in adapters.available] == ["made"]
    with pytest.raises(UnknownAdapter, match="made"):
        adapters.use("wide", empty_sequence())
    adapters.close()


def test_none_leaves_the_state_alone_and_the_model_server_is_told_nothing(
    served: RunningHost,
) -> None:
    adapters, sequence = hosted(served.url), empty_sequence()
    adapters.use("made", sequence)
    assert sequence.adapter is None
    adapters.use(None, sequence)
    assert sequence.correct is None
    adapters.close()


def test_a_host_that_lost_the_session_is_given_new_keys(served: RunningHost) -> None:
    adapters, sequence = hosted(served.url), empty_sequence()
    adapters.use("made", sequence)
    assert sequence.correct is not None
    for hidden in HIDDEN[:2]:
        sequence.correct(hidden)
    opened = opened_sessions(adapters)
    for session in list(served.host.sessions._held.values()):
        served.host.sessions.drop(session)
    np.testing.assert_allclose(
        sequence.correct(HIDDEN[1]), reference(HIDDEN[1]), rtol=1e-4, atol=1e-3
    )
    assert opened_sessions(adapters) == opened + 1
    # Those for the next reply were lost as well.
    np.testing.assert_allclose(
        corrected(adapters, HIDDEN[2]), reference(HIDDEN[2]), rtol=1e-4, atol=1e-3
    )
    adapters.close()


def test_a_worker_that_dies_is_not_noticed(served: RunningHost) -> None:
    adapters, sequence = hosted(served.url), empty_sequence()
    adapters.use("made", sequence)
    assert sequence.correct is not None
    for hidden in HIDDEN[:2]:
        sequence.correct(hidden)
    opened = opened_sessions(adapters)
    for pid in served.worker_pids:
        os.kill(pid, signal.SIGKILL)
    np.testing.assert_allclose(
        sequence.correct(HIDDEN[1]), reference(HIDDEN[1]), rtol=1e-4, atol=1e-3
    )
    assert opened_sessions(adapters) == opened
    adapters.close()


def test_a_restarted_host_is_found_again_and_a_dead_one_stops_the_reply() -> None:
    with running_host(made_host({"made": FILE})) as first:
        adapters = hosted(first.url, patience=SHORT)
        corrected(adapters, HIDDEN[0])
        sequence = empty_sequence()
        adapters.use("made", sequence)
    assert sequence.correct is not None
    with pytest.raises(AdapterHostUnreachable, match="the reply stops") as unreachable:
        sequence.correct(HIDDEN[1])
    assert unreachable.value.code == "adapter_host_unreachable"
    with running_host(made_host({"made": FILE}), port=first.port):
        np.testing.assert_allclose(
            sequence.correct(HIDDEN[1]), reference(HIDDEN[1]), rtol=1e-4, atol=1e-3
        )
    adapters.close()


def test_a_spent_budget_stops_the_reply_in_words() -> None:
    with running_host(made_host({"made": FILE}, budget=2)) as served:
        adapters = hosted(served.url)
        for hidden in HIDDEN[:2]:
            corrected(adapters, hidden)
        with pytest.raises(AdapterHostRefused, match="all 2 queries") as refused:
            corrected(adapters, HIDDEN[2])
        assert refused.value.code == "budget_exhausted"
        adapters.close()


def test_a_wrong_token_is_told_apart_from_the_servers() -> None:
    with running_host(made_host({"made": FILE}), token="a-token-of-enough-length") as served:
        for token in (None, "another-token-of-length"):
            with pytest.raises(AdapterHostRefused, match="--adapter-token") as refused:
                hosted(served.url, token)
            assert refused.value.code == "adapter_host_unauthorized"
        adapters = hosted(served.url, "a-token-of-enough-length")
        assert adapters.available
        adapters.close()


@pytest.mark.parametrize("value", [1e6, np.inf, np.nan])
def test_a_state_beyond_the_range_stops_the_reply(served: RunningHost, value: float) -> None:
    adapters = hosted(served.url)
    with pytest.raises(AdapterOutOfRange, match="--activation-rms"):
        corrected(adapters, np.full(64, value, dtype=np.float32))
    adapters.close()


def test_a_cancelled_wait_for_the_host_ends_at_once() -> None:
    def cancel(_: float) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        hosted("http://127.0.0.1:9", pause=cancel)


def test_a_certificate_that_is_not_trusted_is_told_at_once(tmp_path: Path) -> None:
    def never(_: float) -> None:
        raise AssertionError("waiting does not mend a certificate")

    host = made_host({"made": FILE})
    with (
        running_host(host, tls="on", state=tmp_path) as served,
        pytest.raises(AdapterHostUnreachable, match="split-client pair"),
    ):
        hosted(served.url.replace("http:", "https:"), pause=never)


def test_a_paired_host_is_trusted_and_given_the_token_of_the_pairing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPLIT_DATA", str(tmp_path / "data"))
    token = "a-token-of-enough-length"
    host = made_host({"made": FILE})
    with running_host(host, tls="on", state=tmp_path / "state", token=token) as served:
        url = served.url.replace("http:", "https:")
        ca = (tmp_path / "state" / "ca.pem").read_text()
        KnownServers().remember(Endpoint.parse(url), token, ca, "laptop", "1")
        adapters = hosted(url)
        np.testing.assert_allclose(
            corrected(adapters, HIDDEN[0]), reference(HIDDEN[0]), rtol=1e-4, atol=1e-3
        )
        adapters.close()
