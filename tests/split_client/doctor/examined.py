"""A case that is examined with short limits."""

from __future__ import annotations

from typing import Any

from split_client.doctor.case import Case, Limits
from split_client.doctor.examine import examine
from split_client.doctor.finding import Finding

SHORT = Limits(connect=2.0, answer=2.0, step=30.0)
BRIEF = Limits(connect=0.3, answer=0.3, step=1.0)


def findings(url: str, limits: Limits = SHORT, **settings: Any) -> dict[str, Finding]:
    """What was found, by check."""
    case = Case(url, limits=limits, **settings)
    return {finding.check: finding for finding in examine(case)}


def named(found: dict[str, Finding], state: str = "problem") -> dict[str, str]:
    """The causes of the problems (or warnings), by check."""
    return {name: finding.cause for name, finding in found.items() if finding.state == state}
