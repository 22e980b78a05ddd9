"""A refusal before any route is read by the clients of the API that was asked."""

from __future__ import annotations

import pytest

from split_server.security.error_forms import OLLAMA_CLIENT, error_body
from split_wire.errors import Overloaded, Unauthorized

_OWN = {
    "code": "unauthorized",
    "retryable": False,
    "message": str(Unauthorized()),
}


@pytest.mark.parametrize(
    "path", ["/", "/health", "/v1/models", "/v1/messagesx", "/api/v1/model", "/api/extra/version"]
)
def test_an_error_is_an_object_with_a_code(path: str) -> None:
    assert error_body({"path": path}, Unauthorized()) == {"error": _OWN}


@pytest.mark.parametrize("path", ["/api/chat", "/api/tags", "/api/nothing"])
def test_to_clients_of_ollama_it_is_a_text(path: str) -> None:
    told = error_body({"path": path}, Unauthorized())
    assert told["error"] == str(Unauthorized())
    assert told["code"] == "unauthorized"


def test_whatever_is_asked_where_only_those_come_it_is_one_too() -> None:
    scope = {"path": "/v1/messages", OLLAMA_CLIENT: True}
    assert isinstance(error_body(scope, Unauthorized())["error"], str)


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_to_clients_of_anthropic_it_has_a_type(path: str) -> None:
    told = error_body({"path": path}, Unauthorized())
    assert told == {"type": "error", "error": {"type": "authentication_error"} | _OWN}
    full = error_body({"path": path}, Overloaded("all places are taken"))
    assert full["error"]["type"] == "overloaded_error"
