"""Findings for a server's refusals: what each means to the person at the device."""

from __future__ import annotations

from split_client.doctor.finding import Finding, problem
from split_client.errors import ClientError

_LATER = "try again in a moment"
# By the codes of the server and the relay.
_ADVICE = {
    "unauthorized": "give the server's token as --token or SPLIT_CLIENT_TOKEN",
    "forbidden_host": "start the server with --allow-host and the name or address in your URL (in "
    "a container: SPLIT_SERVER_ALLOW_HOST), or use an IP address of the server",
    "forbidden_origin": "something on the way adds a browser's Origin header: "
    "take that out, or start the server with --allow-origin",
    "overloaded": f"the server is busy: {_LATER}",
    "too_many_sessions": "end another chat with this token, or raise --max-sessions of the server",
    "cache_full": "end another chat, or give the server more memory",
    "shutting_down": "wait until the server is back, or start it again",
    "model_stopped": "have the server started again; its log says what stopped it",
    "too_many_connections": f"the relay is busy: {_LATER}, or raise its --max-connections",
    "upstream_unavailable": "the relay runs and the server behind it does not: start the server",
    "upstream_unprotected": "start the server behind the relay with a token",
    "upstream_is_relay": "the relay leads to itself: correct its --upstream",
    "unsupported_version": "update split-client or the server, so that both are of one version",
    "model_changed": "the server was restarted with another model, or several servers with "
    "different models share the address: run the doctor again, and if it stays, make them one",
    "unknown_model": "correct --model or SPLIT_CLIENT_MODEL: split-client models lists what there "
    "is; a server that lists nothing has one model, without a name",
    "model_loading": "the server reads it into its memory, as for whoever asks first: run the "
    "doctor again when it has",
    "model_busy": "wait until the model that holds the memory is idle, or give the server more "
    "memory",
    "model_unusable": "look into the server's log for what is wrong with its files, or choose "
    "another with --model",
    "server_unreachable": "the server went away: start it again and run the doctor again",
    "connection_lost": "the server went away, or the network drops connections: try again, "
    "and look into the server's log",
    "answer_too_large": "use another server",
    "not_a_split_server": "correct the URL",
    "internal_error": "look into the server's log",
}
_VERSIONS = ("unsupported_version", "unknown_message", "malformed_message", "malformed_frame")


def refusal(check: str, error: ClientError) -> Finding:
    """A problem from what a server, or our own transport, says.

    An answer that cannot be read has the reason for that as its cause.
    """
    cause = getattr(error, "cause_code", error.code)
    advice = _ADVICE.get("unsupported_version" if cause in _VERSIONS else cause, "")
    # Messages end with an advice of their own, which says less than the one here.
    return problem(check, cause, str(error).partition("; ")[0] if advice else str(error), advice)
