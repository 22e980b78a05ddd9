from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from split_client.errors import TemplateFailed, TemplateTooCostly
from split_client.template.template import MAX_TEMPLATE, ChatTemplate
from split_server.checkpoint.folder import EMBEDDED
from tests.checkpoints import CHAT_TEMPLATE

MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Grüße, <b>&amp; 'quotes' \"東京\"\n\n  indented  "},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "{{ 7 * 7 }} {% raw %}"},
]
TEMPLATES = {
    "chatml": CHAT_TEMPLATE,
    "loop controls": "{% for m in messages %}{% if loop.index > 2 %}{% break %}{% endif %}"
    "{% if m.role == 'system' %}{% continue %}{% endif %}{{ m.content }}{% endfor %}",
    "tojson": "{{ messages | tojson }}{{ messages | tojson(indent=2) }}"
    "{{ {'b': 1, 'a': 'ü'} | tojson(sort_keys=true) }}",
    "namespace": "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
    "{% endfor %}{{ ns.n }}{{ dict(a=1) }}{{ range(3) | list }}",
    "whitespace": "\n  {% if true %}\n  a\n  {%- endif %}\n{% set x = 1 %}\nb",
    "macro": "{% macro line(m) %}[{{ m.role | upper }}] {{ m.content | trim }}\n{% endmacro %}"
    "{% for m in messages %}{{ line(m) }}{% endfor %}",
    "tokens": "{{ bos_token }}{{ messages[1]['content'][:5] }}{{ eos_token }}{{ unknown_token }}",
    "generation": "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}"
    "{% endfor %}",
    "optional": "{{ tools }}{{ documents }}{% if tools is none %}none{% endif %}"
    "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}"
    "{{ messages[0].content.split(' ')[-1] }}",
}


@pytest.fixture(scope="module")
def transformers_tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(EMBEDDED)


def rendered(source: str, **options: Any) -> str:
    template = ChatTemplate(source, {"bos_token": "<s>", "eos_token": "</s>"}, **options)
    try:
        return template.render(MESSAGES)
    finally:
        template.close()


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("prompt", [True, False])
def test_text_equals_that_of_transformers(
    name: str, prompt: bool, transformers_tokenizer: Any
) -> None:
    special = {"bos_token": "<s>", "eos_token": "</s>"}
    theirs = transformers_tokenizer.apply_chat_template(
        MESSAGES,
        chat_template=TEMPLATES[name],
        add_generation_prompt=prompt,
        tokenize=False,
        **special,
    )
    template = ChatTemplate(TEMPLATES[name], special)
    assert template.render(MESSAGES, add_generation_prompt=prompt) == theirs
    template.close()


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "balance",
            "description": "The balance of an account in <EUR> & cents.",
            "parameters": {
                "type": "object",
                "properties": {"account": {"type": "string", "description": "'Köln'"}},
                "required": ["account"],
            },
        },
    }
]
CALLS = [
    {"role": "user", "content": "How much is there?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "balance", "arguments": {"account": "Köln", "n": [1, None]}},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "name": "balance", "content": "12.50"},
]
TOOL_TEMPLATES = {
    "xml tags": "{% if tools %}<tools>{% for tool in tools %}\n{{ tool | tojson }}{% endfor %}"
    "\n</tools>\n{% endif %}{% for m in messages %}{{ m.role }}: "
    "{% if m.content %}{{ m.content }}{% endif %}{% for call in m.tool_calls %}"
    "<tool_call>\n{{ call.function | tojson }}\n</tool_call>{% endfor %}\n{% endfor %}",
    "bare json": "{% for tool in tools or [] %}{{ tool.function | tojson(indent=4) }}\n{% endfor %}"
    "{% for m in messages %}{% if 'tool_calls' in m %}{% set call = m.tool_calls[0].function %}"
    '{"name": "{{ call.name }}", "parameters": {{ call.arguments | tojson }}}'
    "{% else %}{{ m.role }} {{ m.name }} {{ m.tool_call_id }} {{ m.content }}{% endif %}\n"
    "{% endfor %}",
    "no place for tools": "{% if tools is none %}none{% endif %}{{ messages | length }}",
}


@pytest.mark.parametrize("name", TOOL_TEMPLATES)
@pytest.mark.parametrize("tools", [TOOLS, [], None], ids=["tools", "empty", "none"])
def test_tools_and_their_calls_reach_the_template_as_they_do_in_transformers(
    name: str, tools: list[dict[str, Any]] | None, transformers_tokenizer: Any
) -> None:
    theirs = transformers_tokenizer.apply_chat_template(
        CALLS,
        tools=tools,
        chat_template=TOOL_TEMPLATES[name],
        add_generation_prompt=True,
        tokenize=False,
    )
    template = ChatTemplate(TOOL_TEMPLATES[name])
    assert template.render(CALLS, tools=tools) == theirs
    template.close()


def test_the_embedded_models_template_equals_transformers(transformers_tokenizer: Any) -> None:
    source = json.loads((EMBEDDED / "tokenizer_config.json").read_text())["chat_template"]
    template = ChatTemplate(source)
    assert template.render(MESSAGES) == transformers_tokenizer.apply_chat_template(
        MESSAGES, add_generation_prompt=True, tokenize=False
    )
    template.close()


def test_one_process_serves_every_turn() -> None:
    template = ChatTemplate(CHAT_TEMPLATE)
    template.start()
    texts = [template.render(MESSAGES[: 2 * n + 2]) for n in range(2)]
    assert texts[1].startswith(texts[0].removesuffix("<|im_start|>assistant\n"))
    template.close()
    template.close()


def test_a_template_that_refuses_says_why() -> None:
    with pytest.raises(TemplateFailed, match="roles must alternate"):
        rendered("{{ raise_exception('roles must alternate') }}")


@pytest.mark.parametrize(
    "source",
    [
        "{% if %}",
        "{{ 1 / 0 }}",
        "{{ messages[99].content.x }}",
        "{{ nothing() }}",
        "{% include 'x' %}",
        "{{ messages.append(1) }}",
    ],
)
def test_a_broken_template_is_named_as_that(source: str) -> None:
    with pytest.raises(TemplateFailed) as caught:
        rendered(source)
    assert caught.value.code == "template_failed"


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.__init__.__globals__ }}",
        "{{ raise_exception.__globals__ }}",
        "{{ namespace.__init__.__globals__ }}",
        "{% set ns = namespace(__class__=1) %}",
        "{{ cycler.__init__.__globals__.os }}",
        "{{ self.__init__ }}",
        "{{ strftime_now.__code__ }}",
        "{{ ''|attr('__class__') }}",
        "{{ '{0.__class__}'.format(1) }}",
    ],
)
def test_nothing_leads_out_of_the_sandbox(source: str) -> None:
    try:
        text = rendered(source)
    except TemplateFailed:
        return
    assert "<" not in text
    assert "object" not in text


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}",
        "{{ 10 ** (10 ** 10) }}",
        "{{ 'a' * 10 ** 10 }}",
        "{{ ('a' * 10 ** 8) * 10 }}",
        "{{ '%9999999999d' % 1 }}",
        "{{ 'a'.ljust(10 ** 11) }}",
        "{{ '{:>9999999999}'.format(1) }}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
        "{% set ns = namespace(l=['a'] * 10 ** 6) %}{% for i in range(99999) %}"
        "{% set ns.l = ns.l + ns.l %}{% endfor %}",
        "{% for i in range(99999) %}{{ 'a' * 1000 }}{% endfor %}",
        "{{ 'a' * 5000000 }}",
    ],
    ids=range(12),
)
def test_a_hostile_template_ends_within_its_bounds(source: str) -> None:
    with pytest.raises((TemplateTooCostly, TemplateFailed)) as caught:
        rendered(source, seconds=1.0)
    assert len(str(caught.value)) < 500


def test_a_template_works_again_after_it_was_stopped() -> None:
    source = (
        "{% if messages | length > 2 %}{% for a in range(90000) %}{% for b in range(90000) %}"
        "{% endfor %}{% endfor %}{% endif %}fine"
    )
    template = ChatTemplate(source, seconds=2.0)
    with pytest.raises(TemplateTooCostly, match="longer than 2 s"):
        template.render(MESSAGES)
    assert template.render(MESSAGES[:2]) == "fine"
    template.close()


def test_an_overlong_template_is_refused_unread() -> None:
    with pytest.raises(TemplateTooCostly):
        ChatTemplate("a" * (MAX_TEMPLATE + 1))


def test_a_module_of_the_current_folder_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jinja2.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    assert rendered("fine") == "fine"


@pytest.fixture(autouse=True)
def _no_processes_are_left() -> Iterator[None]:
    import psutil

    def running() -> set[psutil.Process]:
        children = psutil.Process().children()
        return {child for child in children if "split_client.template" in str(child.cmdline())}

    # Clients of other files may have theirs still.
    before = running()
    yield
    assert running() <= before
