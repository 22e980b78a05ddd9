"""The document describes the routes, and the server keeps to it whatever is sent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from starlette.routing import Route

from split_server.compat.openai.model import ALIAS
from split_server.http.openapi.document import openapi_document
from tests.exhaustive import EXHAUSTIVE
from tests.server_process import RunningServer, running_server

OVERLOADED = 503
EXAMPLES = 30 if EXHAUSTIVE else 6
# Replies are short, so that the time goes into requests.
SHORT = ("max_tokens", "max_completion_tokens", "max_new_tokens", "max_length")
SHORTEST = 2
OLLAMA = ("/api/chat", "/api/generate")
# Where a field that is not there is refused.
LIMITS = {
    "/v1/messages": ("max_tokens",),
    "/v1/responses": ("max_output_tokens",),
    **dict.fromkeys(
        (
            "/v1/messages/count_tokens",
            "/v1/responses/input_tokens",
            "/v1/embeddings",
            "/api/embed",
            "/api/embeddings",
            "/api/show",
            *OLLAMA,
        ),
        (),
    ),
}
PATHS = openapi_document(1)["paths"]
OPERATIONS = [(path, method) for path, item in PATHS.items() for method in item]
# Nothing can be invalid in a request without a body.
ASKED = [
    (path, method, valid)
    for path, method in OPERATIONS
    for valid in ([True, False] if "requestBody" in PATHS[path][method] else [True])
]


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


@pytest.fixture(scope="module")
def api(server: RunningServer) -> Any:
    import schemathesis

    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


def test_the_document_names_every_route_of_the_compatible_apis(server: RunningServer) -> None:
    served = {
        (route.path.replace(":path", ""), method.lower())
        for route in server.app.asgi.router.routes
        if isinstance(route, Route) and _is_compatible(route.path)
        for method in route.methods or ["POST"]
        if method != "HEAD"
    }
    assert served == set(OPERATIONS)


def _is_compatible(path: str) -> bool:
    own = tuple(f"/api/v1/{name}" for name in ("split", "memory", "adapters", "cache", "models"))
    others = ("/tokenize", "/detokenize", "/tokenizer_info", "/props")
    return path.startswith(("/v1/", "/api/", *others)) and not path.startswith(own)


def test_the_document_is_a_valid_one(api: Any) -> None:
    api.validate()


GROUPED = ("/v1/chat/completions", "/v1/completions", "/v1/responses")
GROUPED_BY_KOBOLD = ("/api/v1/generate", "/api/extra/generate/stream")


@pytest.mark.parametrize("path", GROUPED + GROUPED_BY_KOBOLD)
def test_a_cache_group_that_is_nobodys_is_refused_as_described(
    server: RunningServer, path: str
) -> None:
    asked: dict[str, Any] = {"cache_group": "nobody's", "share_until": 16}
    text = "messages" if "chat" in path else "input" if "responses" in path else "prompt"
    asked[text] = [{"role": "user", "content": "Hello"}] if text == "messages" else "Hello"
    with server.client() as client:
        answer = client.post(path, json=asked)
    told = answer.json()
    code = told["error_code"] if path in GROUPED_BY_KOBOLD else told["error"]["code"]
    assert (answer.status_code, code.lower()) == (404, "unknown_cache_group")
    assert "404" in PATHS[path]["post"]["responses"]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method", "valid"), ASKED, ids=str)
def test_whatever_is_sent_is_answered_as_described(
    api: Any, path: str, method: str, valid: bool
) -> None:
    from schemathesis import GenerationMode

    operation = api[path][method]
    mode = GenerationMode.POSITIVE if valid else GenerationMode.NEGATIVE

    @seed(7)
    @settings(
        max_examples=EXAMPLES if method == "post" else 3,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        if isinstance(case.body, dict):
            _shorten(case.body, LIMITS.get(path, SHORT))
            # Ollama's is among the options, and without it a reply ends with the context.
            if path in OLLAMA and valid:
                case.body["options"] = (case.body.get("options") or {}) | {"num_predict": SHORTEST}
            # Any other name is a 404, whatever else is in the request.
            if valid:
                case.body["model"] = ALIAS
        answer = case.call()
        if answer.status_code == OVERLOADED:
            assert "retry-after" in answer.headers
        else:
            case.validate_response(answer, checks=_checks())

    ask()


def _shorten(body: dict[str, Any], limits: tuple[str, ...]) -> None:
    for name in limits:
        value = body.get(name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if value is None or (whole and value > SHORTEST):
            body[name] = SHORTEST


@cache
def _checks() -> list[Any]:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    return [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
