"""The web app's chat templates against Python's: the same text, or a failure of both."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from jinja2 import Template, TemplateError

from split_client.template import environment as python_side
from tests.exhaustive import EXHAUSTIVE
from tests.web.generation_peers import ask
from tests.web.text.template_zoo import TEMPLATES, conversations

NOW = "2024-07-04T09:05:06"


@pytest.fixture(autouse=True)
def fixed_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides see the same day."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Clock:
            return cls.fromisoformat(NOW)

    monkeypatch.setattr(python_side, "datetime", Clock)


def test_random_conversations_with_tools_render_as_python_renders_them() -> None:
    requests = conversations(500 if EXHAUSTIVE else 300, seed=4)
    jobs = [{"source": source, "requests": requests} for source in TEMPLATES.values()]
    answers = ask("text/render.js", {"now": NOW, "jobs": jobs})
    for (name, source), answered in zip(TEMPLATES.items(), answers, strict=True):
        template = python_side.environment().from_string(source)
        expected = [python_text(template, request) for request in requests]
        # Most conversations are ones that the template takes.
        assert sum(text is not None for text in expected) > 100, name
        for request, text, answer in zip(requests, expected, answered, strict=True):
            assert answer.get("text") == text, (name, request, answer, text)


def test_transformers_render_the_same() -> None:
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    requests = [
        request for request in conversations(60, seed=9) if "enable_thinking" not in request
    ]
    for name in ("qwen2.5", "qwen3", "phi", "chatml"):
        [answers] = ask(
            "text/render.js",
            {"now": NOW, "jobs": [{"source": TEMPLATES[name], "requests": requests}]},
        )
        for request, answer in zip(requests, answers, strict=True):
            variables = {key: request[key] for key in ("bos_token", "eos_token")}
            [text], _ = utils.render_jinja_template(
                conversations=[request["messages"]],
                tools=request["tools"],
                chat_template=TEMPLATES[name],
                add_generation_prompt=request["add_generation_prompt"],
                **variables,
            )
            assert answer == {"text": text}, name


def python_text(template: Template, request: dict[str, Any]) -> str | None:
    """None: the template refuses."""
    try:
        return template.render(**request)
    except (TemplateError, TypeError, ValueError, KeyError):
        return None
