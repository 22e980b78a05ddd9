"""The token, and the manifest that it gives access to."""

from __future__ import annotations

import json

import httpx

from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, caused, ok, problem
from split_client.doctor.http import ask
from split_client.doctor.refusals import refusal
from split_client.errors import ConnectionLost, ManifestInvalid, TokenInvalid
from split_client.terminal.output.words import size
from split_client.transport.reach.causes import token_refused
from split_client.transport.refusal import read_refusal
from split_client.weights.manifest import FILE_NAME, FORMAT, parse_manifest

_PATH = f"/weights/{FILE_NAME}"
_FIRST_BYTES = 1024


def check_token(case: Case) -> Finding:
    """Whether the server lets this token in, and whether it would do without."""
    try:
        answer = ask(case, _PATH, case.token)
        if answer.status == httpx.codes.UNAUTHORIZED:
            return _refused(case)
        if answer.status != httpx.codes.OK:
            return _other_status(answer.status, answer.body)
        case.manifest_bytes = answer.body
        if not case.token:
            return ok("token", "none is needed")
        bare = ask(case, _PATH, most=_FIRST_BYTES)
    except TokenInvalid as error:
        return problem("token", error.code, str(error), "a token has no spaces and no line ends")
    except httpx.HTTPError as error:
        return refusal("token", ConnectionLost(str(error) or type(error).__name__))
    if bare.status == httpx.codes.UNAUTHORIZED:
        return ok("token", "accepted")
    return ok("token", "not needed: this server lets everybody in")


def check_manifest(case: Case) -> Finding:
    """Whether this client understands what the server offers."""
    data = case.manifest_bytes or b""
    try:
        manifest = case.manifest = parse_manifest(data)
    except ManifestInvalid as error:
        if _has_other_format(data):
            return problem(
                "manifest",
                "manifest_version",
                str(error),
                "update split-client or the server, so that both are of one version",
            )
        return problem(
            "manifest",
            error.code,
            str(error),
            "something on the way changes answers, or the server is broken: ask its owner",
        )
    return ok(
        "manifest",
        f"{manifest.name} ({manifest.family}), {manifest.digest[:12]}",
        digest=manifest.digest,
        model=manifest.name,
        bytes=manifest.size,
        size=size(manifest.size),
    )


def _refused(case: Case) -> Finding:
    return caused("token", token_refused(bool(case.token), paired=case.paired))


def _other_status(status: int, body: bytes) -> Finding:
    refused = read_refusal(body)
    if refused is not None and refused.code != "not_found":
        return refusal("token", refused)
    return problem(
        "token",
        "not_a_split_server",
        f"it has no weights (HTTP status {status})",
        "correct the URL: another program, or an older server, answers here",
    )


def _has_other_format(data: bytes) -> bool:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") != FORMAT
