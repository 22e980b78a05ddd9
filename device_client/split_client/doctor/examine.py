"""The checks in their order, each bounded in time, up to the one that makes the rest pointless."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from split_client.doctor.access import check_manifest, check_token
from split_client.doctor.adapters import check_adapters
from split_client.doctor.bounded import TooSlow, within
from split_client.doctor.carriers import check_deflate, check_http, check_latency, check_websocket
from split_client.doctor.case import Case, Limits
from split_client.doctor.finding import Finding, problem
from split_client.doctor.network import check_dns, check_tcp, check_url
from split_client.doctor.routing import check_replica, check_routing
from split_client.doctor.server import check_clock, check_server
from split_client.doctor.speed import check_throughput
from split_client.doctor.step import check_session, check_step
from split_client.doctor.storage import check_cache, check_model
from split_client.doctor.tls import check_tls


@dataclass(frozen=True, slots=True)
class Check:
    """``exchanges``: answers that it may wait for. ``local``: it needs no server."""

    name: str
    run: Callable[[Case], Finding]
    exchanges: int = 1
    local: bool = False
    steps: int = 0

    def limit(self, limits: Limits) -> float:
        """Seconds until it is given up; its own limits come first where it can keep them."""
        each = limits.connect + limits.answer
        return 1.0 + limits.connect + self.exchanges * each + self.steps * limits.step


CHECKS = (
    Check("url", check_url, 0),
    Check("dns", check_dns, 0),
    Check("tcp", check_tcp, 0),
    Check("tls", check_tls, 2),
    Check("server", check_server, 3),
    Check("clock", check_clock, 0),
    Check("token", check_token, 2),
    Check("manifest", check_manifest, 0),
    Check("adapters", check_adapters),
    Check("model", check_model, 0),
    Check("cache", check_cache, 0, local=True),
    Check("websocket", check_websocket),
    Check("deflate", check_deflate),
    Check("http", check_http),
    Check("latency", check_latency, 0),
    Check("throughput", check_throughput),
    Check("routing", check_routing),
    Check("session", check_session),
    Check("step", check_step, 0, steps=2),
    Check("replica", check_replica),
)


def examine(case: Case) -> Iterator[Finding]:
    """The findings as they come about; those that nothing more can be said of are left out."""
    stopped = False
    try:
        for check in CHECKS:
            if stopped and not check.local:
                continue
            finding = _bounded(check, case)
            # The folder is named beside what ails the way to the server, and ends nothing.
            stopped |= finding.stops and not check.local
            yield finding
    finally:
        case.close()


def unchecked(findings: list[Finding]) -> list[str]:
    """The names of the checks that were not made."""
    made = {finding.check for finding in findings}
    return [check.name for check in CHECKS if check.name not in made]


def _bounded(check: Check, case: Case) -> Finding:
    try:
        return within(check.limit(case.limits), lambda: check.run(case))
    except TooSlow as error:
        return problem(
            check.name,
            "too_slow",
            str(error),
            "the network or the server is too slow for a chat, or hangs: try again",
        )
    # What a check did not foresee is a finding as well, and the checks that can go on do.
    except Exception as error:  # noqa: BLE001
        return problem(
            check.name,
            "check_failed",
            f"{type(error).__name__}: {error}",
            "look at the settings of this machine that it names; a chat meets the same",
        )
