"""Models that write what a test wants, within what the grammar allows, in the form of a family."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from split_client.chat.conversation import Conversation
from split_client.chat.reply import Reply
from split_client.chat.session import ChatSession
from split_client.chat.spelling import Spelling
from split_client.generation.constraint import Constraint
from split_client.generation.detokenizer import Detokenizer
from split_client.generation.loop import Event, Finished, TokenEvent, TokenTiming
from split_client.grammar.forms import Forms
from split_client.model.tokenizer import ModelTokenizer
from split_client.template.template import ChatTemplate
from split_client.tools.families import FAMILIES, HERMES, CallForm, call_form_of
from split_client.transport.base import Traffic
from split_server.checkpoint.folder import EMBEDDED
from tests.web.text.template_zoo import CHATML, LLAMA3, MISTRAL, QWEN25

_ROLE = "<|start_of_role|>{{ m.role }}<|end_of_role|>"
GRANITE33 = (
    "{% if tools %}<|start_of_role|>system<|end_of_role|>Respond with <|tool_call|> followed by a "
    "JSON list of tools used.{{ tools | tojson }}<|end_of_text|>\n{% endif %}"
    "{% for m in messages %}" + _ROLE + "{{ m.content }}{% if m.tool_calls %}<|tool_call|>["
    "{% for c in m.tool_calls %}{{ c.function | tojson }}{% if not loop.last %}, {% endif %}"
    "{% endfor %}]{% endif %}<|end_of_text|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start_of_role|>assistant<|end_of_role|>{% endif %}"
)
COMMAND_R = (
    "{% for t in tools or [] %}tool_name {{ t.function.name }}\n{% endfor %}"
    "{% for m in messages %}<|START_OF_TURN_TOKEN|>{{ m.role }}\n{{ m.content }}"
    "{% if m.tool_calls %}Action: ```json\n[\n{% for c in m.tool_calls %}"
    '    {"tool_name": {{ c.function.name | tojson }}, "parameters": '
    "{{ c.function.arguments | tojson }}}{% if not loop.last %},\n{% endif %}{% endfor %}\n]```"
    "{% endif %}<|END_OF_TURN_TOKEN|>{% endfor %}"
    "{% if add_generation_prompt %}<|START_OF_TURN_TOKEN|>assistant\n{% endif %}"
)
COMMAND_R7B = (
    "{% for m in messages %}<|START_OF_TURN_TOKEN|>{{ m.role }}\n"
    "{% if m.tool_calls %}<|START_ACTION|>[{% for c in m.tool_calls %}"
    '{"tool_call_id": "{{ loop.index0 }}", "tool_name": {{ c.function.name | tojson }}, '
    '"parameters": {{ c.function.arguments | tojson }}}{% if not loop.last %}, {% endif %}'
    "{% endfor %}]<|END_ACTION|>{% else %}{{ m.content }}{% endif %}"
    "<|END_OF_TURN_TOKEN|>{% endfor %}"
    "{% if add_generation_prompt %}<|START_OF_TURN_TOKEN|>assistant\n{% endif %}"
)
TEMPLATES = {
    "hermes": (QWEN25, "<|im_end|>"),
    "llama": (LLAMA3, "<|eot_id|>"),
    "mistral": (MISTRAL, "</s>"),
    "granite": (GRANITE33, "<|end_of_text|>"),
    "cohere": (COMMAND_R, "<|END_OF_TURN_TOKEN|>"),
    "cohere-action": (COMMAND_R7B, "<|END_OF_TURN_TOKEN|>"),
    "none": (CHATML, "<|im_end|>"),
}
_CONTROL = [
    *("</s>", "<|eot_id|>", "<|end_of_text|>", "<|END_OF_TURN_TOKEN|>", "<|python_tag|>"),
    *("[TOOL_CALLS]", "<|tool_call|>", "<|START_ACTION|>", "<|END_ACTION|>"),
]
_ADDED = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
_ENDS = {end for _, end in TEMPLATES.values()}
_TIMING = TokenTiming(0.0, 0.0, 0.0, 0.0)


def tokenizer_of(folder: Path) -> ModelTokenizer:
    """The embedded tokenizer with the marks of every family."""
    document = json.loads((Path(EMBEDDED) / "tokenizer.json").read_text("utf-8"))
    first = 1 + max(token["id"] for token in document["added_tokens"])
    first = max(first, 1 + max(document["model"]["vocab"].values()))
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    for at, text in enumerate([*_CONTROL, *_ADDED]):
        token = {"id": first + at, "content": text, "special": text in _CONTROL}
        document["added_tokens"].append(token | plain)
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(document), "utf-8")
    return ModelTokenizer.open(path, first + len(_CONTROL) + len(_ADDED))


def spelled(form: CallForm, name: str, arguments: dict[str, Any]) -> str:
    """A call as a model of that family writes it, in white space of its own."""
    call: Any = {form.keys[0]: name, form.keys[1]: arguments}
    if form.several == "list":
        call = [call]
    opening = "" if form.bare else form.opens[0] + form.lead
    return opening + json.dumps(call, separators=(",", ": ")) + form.trail + form.close


@dataclass
class ScriptedMaker:
    """Each reply is the next of ``texts``, up to white space that the grammar wants otherwise."""

    tokenizer: ModelTokenizer
    end: str
    texts: list[str]
    prompts: list[list[int]] = field(default_factory=list)
    replies: list[list[int]] = field(default_factory=list)
    held: int = 0
    ends: Any = field(
        default_factory=lambda: SimpleNamespace(manifest=SimpleNamespace(max_context=1 << 20))
    )

    def resume(self) -> None:
        """Nothing cancels these."""

    def reply(
        self,
        _sequence: object,
        prompt: list[int],
        *_: object,
        calls: Constraint | None = None,
        **_others: object,
    ) -> Reply:
        self.prompts.append(prompt)
        events = self._events(self.texts.pop(0), calls)
        return Reply(events, len(prompt), Traffic())

    def _events(self, text: str, constraint: Constraint | None) -> Iterator[Event]:
        ids: list[int] = []
        self.replies.append(ids)
        detokenizer = Detokenizer(self.tokenizer)
        while text.strip() and not (constraint is not None and constraint.finished):
            token, text = self._next(text, constraint)
            ids.append(token)
            yield TokenEvent(token, detokenizer.push(token), 1.0, 1, _TIMING)
        if constraint is None or not constraint.finished:
            [token] = self.tokenizer.encode(self.end)
            ids.append(token)
            yield TokenEvent(token, "", 1.0, 1, _TIMING)
        yield Finished("eos", detokenizer.flush())

    def _next(self, text: str, constraint: Constraint | None) -> tuple[int, str]:
        mask = None if constraint is None else constraint.allowed(1000)
        token = self.tokenizer.encode(text)[0]
        if mask is not None:
            self.held += 1
            if not mask[token]:
                token = self._allowed(text, [int(each) for each in mask.nonzero()[0]])
        if constraint is not None:
            constraint.accept(token)
        return token, _after(text, self.tokenizer.decode([token], skip_special_tokens=False))

    def _allowed(self, text: str, allowed: list[int]) -> int:
        """The longest of the tokens that say what comes next, white space aside."""
        wanted = _squeezed(text)
        spelt = {token: self.tokenizer.decode([token], False) for token in allowed}
        fit = [token for token in allowed if wanted.startswith(_squeezed(spelt[token]))]
        assert fit, f"nothing of {text[:40]!r} is allowed, but {list(spelt.values())[:9]}"
        return max(fit, key=lambda token: len(_squeezed(spelt[token])))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _after(text: str, said: str) -> str:
    """What of ``text`` is left when ``said`` was said of it."""
    if text.startswith(said):
        return text[len(said) :]
    for _ in _squeezed(said):
        text = text.lstrip()[1:]
    return text


@cache
def forms_of(tokenizer: ModelTokenizer) -> Forms:
    """Forms of a model with that tokenizer; families differ in what ends a turn alone."""
    ends = frozenset(token for token, text in tokenizer.control.items() if text in _ENDS)
    return Forms(tokenizer.to_json, 1 + max(tokenizer.control) + len(_ADDED), ends)


@dataclass
class Manifest:
    vocab_size: int
    eos_token_ids: frozenset[int]


@dataclass
class Ends:
    tokenizer: ModelTokenizer
    manifest: Manifest
    chat_template: ChatTemplate
    forms: Forms


def chat_of(
    family: str, tokenizer: ModelTokenizer, script: Callable[[CallForm], list[str]]
) -> tuple[ChatSession, ScriptedMaker, ChatTemplate]:
    """A chat with a model of ``family`` that writes what ``script`` makes of its form."""
    from split_client.chat.calling import CallMaker

    source, end = TEMPLATES[family]
    template = ChatTemplate(source, {"bos_token": "", "eos_token": end})
    [eos] = tokenizer.encode(end)
    manifest = Manifest(1 + max(tokenizer.control) + len(_ADDED), frozenset({eos}))
    ends: Any = Ends(tokenizer, manifest, template, forms_of(tokenizer))
    maker = ScriptedMaker(tokenizer, end, script(call_form_of(source) or HERMES))
    spelling = Spelling(call_form_of(source), (end,))
    conversation = Conversation(template, tokenizer, spelling=spelling)
    parts: Any = (maker, conversation, None)
    return ChatSession(*parts, calls=CallMaker(ends)), maker, template


def family_names() -> list[str]:
    """All families, and a template without tools."""
    return [*(form.name for form in FAMILIES), "none"]
