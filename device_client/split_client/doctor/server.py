"""Checks that it is a split server that answers, and what its clock says."""

from __future__ import annotations

import json
import ssl

import httpx

from split_client.doctor.case import Case, Clocks
from split_client.doctor.finding import Finding, caused, ok, problem, warning
from split_client.doctor.http import Answer, ask
from split_client.doctor.refusals import refusal
from split_client.transport.reach.causes import proxy_refuses, tls_here
from split_client.transport.reach.diagnosis import date_of, of_plain_port
from split_client.transport.reach.listener import identify
from split_client.transport.refusal import read_refusal

_HEALTH_BYTES = 64 * 1024
_GATEWAY = (502, 503, 504)
_LOGIN = (401, 403, 407)
# Date has whole seconds, and an answer takes its time.
_TOLERATED_SECONDS = 30.0
_DAY = 86400.0


def check_server(case: Case) -> Finding:
    """Whether ``/health`` answers as ours does. The token stays here until that is known."""
    try:
        answer = ask(case, "/health", most=_HEALTH_BYTES, root=True)
    except httpx.TimeoutException:
        return _explained(case, "silent")
    except httpx.ProxyError as error:
        return caused("server", proxy_refuses(str(error)))
    except httpx.HTTPError as error:
        if isinstance(_origin(error), ssl.SSLCertVerificationError):
            return _unknown_to_library()
        return _explained(case, "dropped")
    case.clocks = _clocks(answer)
    return _judged(case, answer)


def check_clock(case: Case) -> Finding:
    """The server's ``Date`` against this machine's clock."""
    if case.clocks is None:
        return Finding("clock", "skipped", "the server does not say what time it is")
    off = case.clocks.here - case.clocks.server
    if abs(off) <= _TOLERATED_SECONDS:
        return ok("clock", "agrees with the server's", skew_s=round(off))
    side = "ahead of" if off > 0 else "behind"
    return warning(
        "clock",
        "clock_skew",
        f"this machine's clock is {_duration(abs(off))} {side} the server's",
        "set the clock that is wrong: times in logs do not match, and a day off makes "
        "certificates invalid",
        skew_s=round(off),
    )


def _clocks(answer: Answer) -> Clocks | None:
    date = date_of(answer.headers.get("Date", ""))
    return None if date is None else Clocks(date, answer.began + answer.seconds / 2)


def _duration(seconds: float) -> str:
    for unit, length in (("days", _DAY), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _judged(case: Case, answer: Answer) -> Finding:
    if answer.status == httpx.codes.OK and _is_health(answer.body):
        return _welcome(case)
    refused = read_refusal(answer.body, answer.headers.get("Retry-After"))
    if refused is not None:
        return refusal("server", refused)
    if answer.status in _GATEWAY:
        return problem(
            "server",
            "gateway",
            f"HTTP status {answer.status}: the server is overloaded, or a proxy before it does "
            "not reach it",
            "see whether split-server runs and where the proxy leads; try again in a moment",
        )
    if answer.status in _LOGIN:
        return problem(
            "server",
            "login_needed",
            f"HTTP status {answer.status}: something before the server asks for a login",
            "log in at the network's page or the proxy, or use another way to the server",
        )
    return _somebody_else(case, answer)


def _welcome(case: Case) -> Finding:
    """Whether it wants new sessions, too. Servers of before know no such question."""
    try:
        answer = ask(case, "/ready", most=_HEALTH_BYTES, root=True)
    except httpx.HTTPError:
        return ok("server", "a split server answers")
    if not _says(answer.body, "unready"):
        return ok("server", "a split server answers")
    return warning(
        "server",
        "not_ready",
        "a split server answers, but wants no new sessions: it loads its model, warms up, or is "
        "about to stop",
        "try again in a moment",
    )


def _is_health(body: bytes) -> bool:
    return _says(body, "ok")


def _says(body: bytes, word: str) -> bool:
    try:
        return bool(json.loads(body) == {"status": word})
    except (ValueError, RecursionError):
        return False


def _somebody_else(case: Case, answer: Answer) -> Finding:
    where = answer.headers.get("Location", "")
    if 300 <= answer.status < 400 and where:
        return problem(
            "server",
            "redirected",
            f"it points to {where} instead of answering",
            "use the URL of the split server itself, without /health",
        )
    if _is_tls_notice(case, answer):
        return caused("server", tls_here(case.server))
    name = answer.headers.get("Server")
    called = f", it calls itself {name!r}" if name else ""
    return problem(
        "server",
        "not_a_split_server",
        f"another web server answers (HTTP status {answer.status}{called})",
        "correct the host, the port and the path",
    )


def _is_tls_notice(case: Case, answer: Answer) -> bool:
    """A port of TLS may answer plain HTTP with an error in plain HTTP."""
    if case.server.secure or case.proxy or answer.status != httpx.codes.BAD_REQUEST:
        return False
    return identify(case.server, case.limits.connect).kind == "tls"


def _explained(case: Case, cause: str) -> Finding:
    """The reason why HTTP did not come about; behind a proxy only the proxy could be asked."""
    if case.proxy is None and not case.server.secure:
        found = of_plain_port(case.server, case.limits.connect)
        if found is not None:
            return caused("server", found)
    if cause == "silent":
        return problem(
            "server",
            "silent",
            f"it accepts connections and does not answer within {case.limits.answer:g} s",
            "restart the server; something on the way may swallow what is sent",
        )
    return problem(
        "server",
        "dropped",
        "it accepts connections and drops them without an answer",
        "see whether the server is stopping or has crashed, and whether the port is its own",
    )


def _unknown_to_library() -> Finding:
    return problem(
        "server",
        "certificate_untrusted",
        "this machine trusts the certificate, and the HTTP library's own list does not",
        "name the file with the authority's certificate in SSL_CERT_FILE",
    )


def _origin(error: BaseException) -> BaseException:
    """The first of a chain of errors."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return error
