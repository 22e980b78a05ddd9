"""Chat templates in the formats of the families, and conversations to render with them."""

# ruff: noqa: E501

from __future__ import annotations

import random
import unicodedata
from typing import Any

from tests.web.text.hard_texts import LANGUAGES, PIECES

# repr() of characters that this Python does not know yet is another with the next one.
KNOWN_PIECES = [
    piece for piece in PIECES if all(unicodedata.category(each) != "Cn" for each in piece)
]

CHATML = """{%- for message in messages %}
    {%- if loop.first and message.role != 'system' %}
        {{- '<|im_start|>system\\nYou help.<|im_end|>\\n' }}
    {%- endif %}
    {{- '<|im_start|>' ~ message['role'] ~ '\\n' ~ (message['content'] or '') | trim ~ '<|im_end|>' ~ '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

LLAMA3 = """{{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\\n" }}
{%- endif %}
{{- "Today Date: " + date_string + "\\n\\n" }}
{%- if tools is not none %}
    {{- "You have these functions.\\n\\n" }}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("One tool call at a time") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}" }}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable and message.content is not string %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

QWEN25 = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0]['role'] == 'system' %}
        {{- messages[0]['content'] }}
    {%- else %}
        {{- 'You help.' }}
    {%- endif %}
    {{- "\\n\\n# Tools\\n\\n<tools>" }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools>\\n<tool_call>\\n{\\"name\\": <function-name>}\\n</tool_call><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}
            {{- '\\n' + message.content }}
        {%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' }}
            {{- tool_call.name }}
            {{- '", "arguments": ' }}
            {{- tool_call.arguments | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\\n<tool_response>\\n' }}
        {{- message.content }}
        {{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

QWEN3 = """{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}
                {{- '<|im_start|>' + message.role + '\\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\\n{"name": "' }}
                {{- tool_call.name }}
                {{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
"""

MISTRAL = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{#- Roles take turns once tools are left out. #}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("Roles must take turns: user, assistant") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}
                        {{- '"' + key + '": "' + val + '"' }}
                    {%- else %}
                        {{- '"' + key + '": ' + val|tojson }}
                    {%- endif %}
                    {%- if not loop.last %}
                        {{- ", " }}
                    {%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}
                    {{- ", " }}
                {%- else %}
                    {{- "]" }}
                {%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
            {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}
                {{- raise_exception("Ids of tool calls have nine characters") }}
            {%- endif %}
            {{- ', "id": "' + tool_call.id + '"}' }}
            {%- if not loop.last %}
                {{- ", " }}
            {%- else %}
                {{- "]" + eos_token }}
            {%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool_results" or message["role"] == "tool" %}
        {%- if message.content is defined and message.content.content is defined %}
            {%- set content = message.content.content %}
        {%- else %}
            {%- set content = message.content %}
        {%- endif %}
        {{- '[TOOL_RESULTS] {"content": ' + content|string + ", " }}
        {{- '"call_id": "' + message.tool_call_id|default("", true) + '"}[/TOOL_RESULTS]' }}
    {%- else %}
        {{- raise_exception("Only user and assistant") }}
    {%- endif %}
{%- endfor %}
"""

GEMMA = """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('No system role') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must take turns') }}{% endif %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '
' + message['content'] | trim + '<end_of_turn>
' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model
'}}{% endif %}"""

GEMMA3 = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '

' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<start_of_image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
"""

GRANITE = """{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set system_message = "Today's Date: " + strftime_now('%B %d, %Y') + ".\\nYou are helpful." %}
    {%- if tools and documents %}
        {%- set system_message = system_message + " Tools and documents." %}
    {%- elif tools %}
        {%- set system_message = system_message + " Tools." %}
    {%- endif %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- '<|start_of_role|>system<|end_of_role|>' + system_message + '<|end_of_text|>
' }}
{%- if tools %}
    {{- '<|start_of_role|>tools<|end_of_role|>' }}
    {{- tools | tojson(indent=4) }}
    {{- '<|end_of_text|>
' }}
{%- endif %}
{%- macro role(name, note=none) -%}
<|start_of_role|>{{ name }}{% if note %} {{ note | tojson }}{% endif %}<|end_of_role|>
{%- endmacro -%}
{%- for message in loop_messages %}
    {{- role(message['role'], {'turn': loop.index, 'last': loop.last} if loop.last) + (message['content'] if message['content'] is not none else '') + '<|end_of_text|>
' }}
    {%- if message.tool_calls %}
        {%- for name, arguments in message.tool_calls | map(attribute='function') | map(attribute='arguments') | map('dictsort') | map('first') | reject('undefined') %}
            {{- name ~ '=' ~ arguments ~ ';' }}
        {%- endfor %}
    {%- endif %}
    {%- if loop.last and add_generation_prompt %}
        {{- '<|start_of_role|>assistant<|end_of_role|>' }}
    {%- endif %}
{%- endfor %}"""

PHI = """{% for message in messages %}{% if message['role'] == 'system' and 'tools' in message and message['tools'] is not none %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|tool|>' + message['tools'] + '<|/tool|>' + '<|end|>' }}{% else %}{{ '<|' + message['role'] + '|>' + '\\n' + (message['content'] | string) + '<|end|>' + '\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}"""

TRAINING = """{% for message in messages -%}
    {%- if message.role == 'assistant' %}
        {% generation %}
        A: {{ message.content }}
        {% endgeneration %}
    {%- elif message.role in ['tool', 'system'] %}{% continue %}
    {%- else %}
        {{ loop.index }}. {{ message.content }}
    {% endif %}
    {%- if loop.index > 6 %}{% break %}{% endif %}
{% else %}nothing{% endfor %}
{# how Python shows values #}
{{ tools }} {{ messages[0] }} {{ none }} {{ true }} {{ 1.0 / 3 }} {{ 7 // -2 }} {{ -7 % 3 }} {{ 0.00001 }}
{{ [1, 'a', "it's", none, (1, 2), {'k': 2.5}] }} {{ ('a', 'b') | join('+') }} {{ 'abc'[::-1] }} {{ missing }}{{ missing | default('none') }}
{% filter upper %}{{ messages | map(attribute='role') | unique | sort | join(', ') }}{% endfilter %}
{{ (messages | last).content | indent(2) }} {{ range(3) | list }} {{ messages | length }} {{ 'x' * 3 }}
{{ tools | tojson(indent=2, sort_keys=true, ensure_ascii=true, separators=(',', ':')) }}
{%- set text %}
  {{ messages[0].role }} {{ '%' }}
{%- endset %}
{{ text | trim | title }}|{{ cycler('a', 'b').next() }}|{{ joiner(',')() }}|{{ dict(a=1) }}
"""

TEMPLATES = {
    "chatml": CHATML,
    "llama 3": LLAMA3,
    "qwen2.5": QWEN25,
    "qwen3": QWEN3,
    "mistral": MISTRAL,
    "gemma": GEMMA,
    "gemma 3": GEMMA3,
    "granite": GRANITE,
    "phi": PHI,
    "every construct": TRAINING,
}
VARIABLES = {"bos_token": "<s>", "eos_token": "</s>"}


def conversations(count: int, seed: int) -> list[dict[str, Any]]:
    """Variables of as many renderings: messages, with and without tools and their calls."""
    chance = random.Random(seed)  # noqa: S311
    return [_request(chance) for _ in range(count)]


def _request(chance: random.Random) -> dict[str, Any]:
    tools = [_tool(chance) for _ in range(chance.randint(1, 3))] if chance.random() < 0.5 else None
    request = VARIABLES | {
        "messages": _messages(chance, tools),
        "tools": tools,
        "documents": None,
        "add_generation_prompt": chance.random() < 0.7,
    }
    if chance.random() < 0.2:
        request["enable_thinking"] = chance.random() < 0.5
    return request


def _messages(chance: random.Random, tools: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
    messages = []
    if chance.random() < 0.4:
        messages.append({"role": "system", "content": _content(chance)})
    for _ in range(chance.randint(1, 4)):
        messages.append({"role": "user", "content": _content(chance)})
        if tools and chance.random() < 0.6:
            messages += _called(chance, tools)
        messages.append({"role": "assistant", "content": _reply(chance)})
    if chance.random() < 0.7:
        messages.append({"role": "user", "content": _content(chance)})
    if chance.random() < 0.05:
        chance.shuffle(messages)
    return messages


def _called(chance: random.Random, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    calls = []
    for _ in range(1 if chance.random() < 0.7 else 2):
        name = chance.choice(tools)["function"]["name"]
        function = {"name": name, "arguments": _arguments(chance)}
        calls.append(
            {"id": "abc12345" + str(chance.randrange(10)), "type": "function", "function": function}
        )
    message: dict[str, Any] = {"role": "assistant", "tool_calls": calls}
    if chance.random() < 0.8:
        message["content"] = chance.choice(["", None, _content(chance)])
    results = [
        {
            "role": "tool",
            "name": call["function"]["name"],
            "content": _content(chance),
            "tool_call_id": call["id"],
        }
        for call in calls
    ]
    return [message, *results]


def _tool(chance: random.Random) -> dict[str, Any]:
    properties = {
        chance.choice(["city", "größe", "items", "unit", "when", "名前"]): _schema(chance, depth=0)
        for _ in range(chance.randint(0, 4))
    }
    return {
        "type": "function",
        "function": {
            "name": chance.choice(["get_weather", "search", "rechne"]),
            "description": _content(chance),
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(properties)[:1],
            },
        },
    }


def _schema(chance: random.Random, depth: int) -> dict[str, Any]:
    kind = chance.choice(["string", "number", "array", "object"] if depth < 3 else ["string"])
    schema: dict[str, Any] = {"type": kind, "description": _content(chance)}
    if kind == "string":
        schema["enum"] = ["a", "é", '"quoted"', "tab\t", "</x>", "\x7f", "\u2028"]
    if kind == "number":
        schema |= {
            "minimum": 0,
            "maximum": 1.5,
            "default": 1e-7,
            "multipleOf": 0.1,
            "nullable": True,
        }
    if kind == "array":
        schema["items"] = _schema(chance, depth + 1)
    if kind == "object":
        schema["properties"] = {"inner": _schema(chance, depth + 1), "none": {}}
        schema["required"] = []
    return schema


def _arguments(chance: random.Random) -> dict[str, Any]:
    values = [
        "Zürich",
        "",
        3,
        2.5,
        -1,
        True,
        None,
        [1, [2, {}]],
        {"deep": {"a": ["b"]}},
        'it\'s "so"\n',
    ]
    return {
        key: chance.choice(values)
        for key in chance.sample(["city", "unit", "items", "x"], chance.randint(0, 3))
    }


def _content(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.1:
        return ""
    if kind < 0.6:
        return chance.choice(LANGUAGES)
    return "".join(chance.choices(KNOWN_PIECES, k=chance.randint(1, 8)))


def _reply(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return f"<think>\n{_content(chance)}\n</think>\n\n{_content(chance)}"
    return _content(chance)
