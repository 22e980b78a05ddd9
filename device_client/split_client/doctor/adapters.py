"""The adapters of a server, and those that it had to leave out."""

from __future__ import annotations

import json
from typing import Any

import httpx

from split_client.adapters.errors import AdapterListInvalid
from split_client.adapters.listing import PATH, parse_listing
from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, ok, warning
from split_client.doctor.http import ask

_MOST = 1 << 20
_MAX_NAMED = 5
_MAX_TEXT = 200


def check_adapters(case: Case) -> Finding:
    """Whether the server has adapters, and which folders hold none that it can use."""
    try:
        answer = ask(case, PATH, case.token, most=_MOST)
    except httpx.HTTPError as error:
        return _unknown(str(error) or type(error).__name__)
    if answer.status == httpx.codes.NOT_FOUND:
        return ok("adapters", "this server knows of none", count=0)
    if answer.status != httpx.codes.OK:
        return _unknown(f"HTTP status {answer.status}")
    try:
        count = len(parse_listing(answer.body))
        left_out = _left_out(json.loads(answer.body))
    except (AdapterListInvalid, ValueError, RecursionError) as error:
        return _unknown(str(error))
    if left_out:
        return warning(
            "adapters",
            "adapter_unusable",
            "left out: " + "; ".join(left_out[:_MAX_NAMED]),
            "mend or remove these folders on the server and start it again",
            count=count,
            left_out=len(left_out),
        )
    return ok("adapters", f"{count} in the clear", count=count)


def _left_out(document: Any) -> list[str]:
    """One line each, of what the server says about them."""
    entries = document.get("left_out", [])
    if not isinstance(entries, list):
        raise AdapterListInvalid("'left_out' is not a list")
    return [_line(entry) for entry in entries]


def _line(entry: Any) -> str:
    if not isinstance(entry, dict):
        raise AdapterListInvalid("an entry of 'left_out' is not an object")
    text = f"{entry.get('folder')}: {entry.get('reason')}"
    return "".join(one if one.isprintable() else "?" for one in text)[:_MAX_TEXT]


def _unknown(reason: str) -> Finding:
    return warning(
        "adapters",
        "adapters_unknown",
        f"the list of adapters could not be read: {reason[:_MAX_TEXT]}",
        "a chat without an adapter does not need it",
    )
