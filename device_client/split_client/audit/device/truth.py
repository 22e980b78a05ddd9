"""The true token ids of what was said, which only the device and the scoring know."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.audit.attacks.knowledge import chat_ids
from split_client.audit.device.prompts import Prompt
from split_client.audit.errors import AuditError
from split_client.model.ends import DeviceEnds


class PromptNotSent(AuditError):
    """A prompt that the chat template does not pass on whole."""

    code = "prompt_not_sent"

    def __init__(self, index: int) -> None:
        super().__init__(
            f"prompt {index} is empty or changed by the model's chat template; word it differently"
        )


@dataclass(frozen=True, slots=True)
class Truth:
    """``ids`` of the whole prompt; those from ``start`` to ``stop`` are the user's message."""

    ids: tuple[int, ...]
    start: int
    stop: int
    sensitive: tuple[str, ...]

    @property
    def secret(self) -> tuple[int, ...]:
        """The ids that the attacker wants."""
        return self.ids[self.start : self.stop]


def truths(
    ends: DeviceEnds, prompts: tuple[Prompt, ...], frame: tuple[int, int]
) -> tuple[Truth, ...]:
    """The tokens of ``prompts``; ``frame``: how many of the template's stand before and after.

    Raises PromptNotSent.
    """
    found = []
    before, after = frame
    for index, prompt in enumerate(prompts):
        ids = chat_ids(ends, prompt.text)
        truth = Truth(tuple(ids), before, len(ids) - after, prompt.sensitive)
        if not truth.secret or ends.tokenizer.decode(list(truth.secret)) != prompt.text:
            raise PromptNotSent(index)
        found.append(truth)
    return tuple(found)
