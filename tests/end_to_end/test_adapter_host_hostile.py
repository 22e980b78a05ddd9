"""A few hundred hostile keys and ciphertexts; ``scripts.bench.he_hostile.run`` sends 20,000."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from scripts.bench.he_hostile.attacker import Attacker, Tally
from tests.adapter_hosts import made_adapter, made_host, running_host

_MESSAGES = 17 * 12


@contextmanager
def _attacking(url: str, tally: Tally) -> Iterator[Attacker]:
    attacker = Attacker(url, "made", 4, tally)
    try:
        yield attacker
    finally:
        attacker.close()


def test_a_host_answers_hostile_bytes_with_codes_and_honest_ones_as_ever() -> None:
    tally = Tally()
    host = made_host({"made": made_adapter()})
    with running_host(host) as served, _attacking(served.url, tally) as attacker:
        pids = served.worker_pids
        attacker.send(_MESSAGES)
        attacker.honest()
        assert served.worker_pids == pids
        assert len(host.sessions) <= host.limits.sessions_per_principal
    assert tally.faults == []
    assert tally.sent == _MESSAGES + 1
    assert host.pool.places[0].losses == 0
