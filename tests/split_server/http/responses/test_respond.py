"""What may be kept of whom."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from split_server.compat.openai.errors import UnsupportedParameter
from split_server.compat.openai.fields import parse_body
from split_server.compat.openai.service import OpenAIService
from split_server.compat.responses.kept import KeptResponses, PreviousNotFound
from split_server.compat.responses.request import parse_responses_request
from split_server.http.openai.guard import Asked
from split_server.http.openai.sink import Sink
from split_server.http.responses.respond import Responses
from split_server.security.principal import ANONYMOUS, LOCAL
from tests.engines import run
from tests.split_server.compat.openai.requests import SERVED

SERVICE = cast("OpenAIService", SimpleNamespace())
NOWHERE = cast("Sink", SimpleNamespace())


def answer(principal: str, **values: Any) -> None:
    body = json.dumps({"input": "Hello"} | values).encode()
    asked = parse_responses_request(parse_body(body), SERVED)
    responses = Responses(SERVICE, KeptResponses())
    run(responses.answer(asked, Asked(principal), NOWHERE))


@pytest.mark.parametrize(("name", "value"), [("store", True), ("previous_response_id", "resp_1")])
def test_nothing_is_kept_where_everybody_is_let_in(name: str, value: Any) -> None:
    with pytest.raises(UnsupportedParameter, match="--no-auth") as refused:
        answer(ANONYMOUS, **{name: value})
    assert refused.value.param == name


def test_on_this_machine_alone_it_may_be() -> None:
    with pytest.raises(PreviousNotFound):
        answer(LOCAL, previous_response_id="resp_1")
