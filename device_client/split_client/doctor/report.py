"""``split-client doctor``: its findings as lines for a person or as JSON for a program."""

from __future__ import annotations

import dataclasses
import json
from typing import cast

from split_client.config.connection import ConnectionConfig
from split_client.doctor.case import Case
from split_client.doctor.examine import examine, unchecked
from split_client.doctor.finding import Finding
from split_client.errors import ClientError
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import counted
from split_client.terminal.pair import OwnToken, own_token
from split_client.transport.channel import Mode

_STATE_WIDTH = 8
_LONGEST = 600


def run_doctor(config: ConnectionConfig, screen: Screen, *, as_json: bool) -> bool:
    """Examine the way to the server; whether no problem was found."""
    token = _token(config)
    mode = cast(Mode, config.transport)
    case = Case(config.url, token.text, mode, config.cache, paired=token.paired, named=config.model)
    findings = []
    for finding in examine(case):
        findings.append(finding)
        if not as_json:
            _show(finding, screen)
    if as_json:
        screen.line(json.dumps(report(case, findings), ensure_ascii=True))
    else:
        _sum_up(findings, screen)
    return not _named(findings, "problem")


def report(case: Case, findings: list[Finding]) -> dict[str, object]:
    """The document of ``--json``."""
    return {
        "url": case.url,
        "ok": not _named(findings, "problem"),
        "problems": [finding.cause for finding in findings if finding.state == "problem"],
        "warnings": [finding.cause for finding in findings if finding.state == "warning"],
        "not_checked": unchecked(findings),
        "checks": [_document(finding) for finding in findings],
    }


def line(finding: Finding) -> str:
    """The finding and the advice, on one line."""
    text = f"{finding.state:<{_STATE_WIDTH}} {finding.check}: {_clean(finding.message)}"
    if finding.advice:
        text += f"; {_clean(finding.advice)}"
    return f"{text} [{_clean(finding.cause)}]" if finding.cause else text


def _document(finding: Finding) -> dict[str, object]:
    document = dataclasses.asdict(finding)
    del document["stops"]
    return document | {"message": _clean(finding.message), "advice": _clean(finding.advice)}


def _show(finding: Finding, screen: Screen) -> None:
    screen.paragraph(line(finding), hang=_STATE_WIDTH + 1)


def _sum_up(findings: list[Finding], screen: Screen) -> None:
    problems, warnings = _named(findings, "problem"), _named(findings, "warning")
    parts = []
    if problems:
        parts.append(f"{counted(len(problems), 'problem')}: {', '.join(problems)}")
    if warnings:
        parts.append(f"{counted(len(warnings), 'warning')}: {', '.join(warnings)}")
    left = unchecked(findings)
    if left:
        parts.append(f"not checked: {', '.join(left)}")
    screen.line()
    screen.paragraph("; ".join(parts) if parts else "all is well")


def _named(findings: list[Finding], state: str) -> list[str]:
    return [finding.check for finding in findings if finding.state == state]


def _clean(text: str) -> str:
    return one_line(text, _LONGEST)


def _token(config: ConnectionConfig) -> OwnToken:
    """The given or the paired one; what is wrong with the URL is a finding of its own."""
    try:
        return own_token(config.token, config.url)
    except ClientError:
        return OwnToken(config.token)
