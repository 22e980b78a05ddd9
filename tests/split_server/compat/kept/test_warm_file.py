"""The file of prompts that are kept warm: read whole, or refused with file, line and reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_client.generation.sampling.params import SamplingParams
from split_server.compat.kept.warm_file import MAX_PROMPTS, WarmFileInvalid, read_warm_file
from split_server.compat.openai.model import ServedModel

SERVED = ServedModel("a-model", 0, "fp", 100, 512, SamplingParams())


def written(folder: Path, *lines: str) -> Path:
    path = folder / "prompts.jsonl"
    path.write_text("\n".join(lines))
    return path


def test_prompts_and_chats_are_read_with_their_lines(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"prompt": "Once"}',
        "",
        '{"messages": [{"role": "system", "content": "Be brief."}]}',
        '{"prompt": [1, 2, 3]}',
    )
    (first, text), (third, chat), (fourth, ids) = read_warm_file(path, SERVED)
    assert (first, third, fourth) == (1, 3, 4)
    assert (text.prompt, ids.prompt) == ("Once", (1, 2, 3))
    assert chat.messages[0]["content"] == "Be brief."


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "{}",
        '{"prompt": "secret", "messages": []}',
        '{"prompt": "secret", "promt": 1}',
        '{"prompt": "secret", "pin_seconds": 5}',
        '{"prompt": [100]}',
        '{"messages": [{"role": "nobody", "content": "secret"}]}',
    ],
)
def test_a_damaged_line_is_named_and_never_shown(tmp_path: Path, line: str) -> None:
    path = written(tmp_path, '{"prompt": "Once"}', line)
    with pytest.raises(WarmFileInvalid, match=r"line 2 of .*prompts\.jsonl") as refusal:
        read_warm_file(path, SERVED)
    assert "secret" not in str(refusal.value)


def test_no_file_no_prompts_and_too_many_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path, written(tmp_path)):
        with pytest.raises(WarmFileInvalid):
            read_warm_file(path, SERVED)
    many = written(tmp_path, *['{"prompt": "Once"}'] * (MAX_PROMPTS + 1))
    with pytest.raises(WarmFileInvalid, match=str(MAX_PROMPTS)):
        read_warm_file(many, SERVED)
