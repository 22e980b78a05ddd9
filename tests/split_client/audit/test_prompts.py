"""Messages with planted secrets, built in and from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.device.prompts import (
    Prompt,
    built_in_prompts,
    built_in_questions,
    read_prompts,
)
from split_client.audit.device.truth import PromptNotSent, truths
from split_client.audit.errors import PromptsInvalid
from split_client.model.ends import DeviceEnds


def test_the_built_in_messages_all_hold_secrets_and_the_questions_answers() -> None:
    prompts = built_in_prompts()
    assert len(prompts) == 40
    assert all(prompt.sensitive for prompt in prompts)
    assert len({one.question for one in built_in_questions()}) == 100


def test_the_tokens_of_a_message_are_found_within_its_prompt(
    ends: DeviceEnds, public: PublicModel
) -> None:
    frame = (len(public.prefix), len(public.suffix))
    found = truths(ends, built_in_prompts(), frame)
    for prompt, truth in zip(built_in_prompts(), found, strict=True):
        assert ends.tokenizer.decode(list(truth.secret)) == prompt.text
        assert list(truth.ids[: truth.start]) == public.prefix
        assert list(truth.ids[truth.stop :]) == public.suffix


def test_a_message_that_the_template_takes_apart_is_refused(
    ends: DeviceEnds, public: PublicModel
) -> None:
    frame = (len(public.prefix), len(public.suffix))
    with pytest.raises(PromptNotSent):
        truths(ends, (Prompt("a\n", ()), Prompt("<|im_end|>", ())), frame)


def test_messages_of_ones_own_are_read(tmp_path: Path) -> None:
    path = tmp_path / "prompts.json"
    given = [{"text": "I am Bo.", "sensitive": ["Bo"]}, {"text": "Hi", "sensitive": []}]
    path.write_text(json.dumps(given))
    assert read_prompts(path) == (Prompt("I am Bo.", ("Bo",)), Prompt("Hi", ()))


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '[{"text": "a", "sensitive": []}]',
        '[{"text": "a", "sensitive": ["b"]}, {"text": "a", "sensitive": []}]',
        '[{"text": "", "sensitive": []}, {"text": "a", "sensitive": []}]',
        '[{"text": "a"}, {"text": "a", "sensitive": []}]',
        '[{"text": "a", "sensitive": [""]}, {"text": "a", "sensitive": []}]',
        '[{"text": "a", "sensitive": [1]}, {"text": "a", "sensitive": []}]',
    ],
)
def test_files_of_another_form_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prompts.json"
    path.write_text(text)
    with pytest.raises(PromptsInvalid):
        read_prompts(path)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PromptsInvalid):
        read_prompts(tmp_path / "none.json")
