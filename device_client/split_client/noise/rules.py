"""Rules of noise: what it forbids, because it would look at the clean prompt and tell of it.

The reply's tokens go back to the server. That costs the prompt nothing as long as they follow from
the noised rows, the server's answers and the device's own randomness (post-processing).
"""

from __future__ import annotations

from dataclasses import replace

from split_client.generation.sampling.params import SamplingParams
from split_client.noise.errors import NoiseForbids


def without_penalty(defaults: SamplingParams) -> SamplingParams:
    """A model's own sampling without the penalty that looks at the prompt."""
    return replace(defaults, repetition_penalty=1.0)


def require_blind_sampling(params: SamplingParams) -> None:
    """Raises NoiseForbids where replies would depend on the clean prompt."""
    if params.repetition_penalty != 1.0:
        raise NoiseForbids(
            "repetition_penalty",
            "it looks at the clean prompt, and the reply that is sent back would tell of it",
            "set it to 1; presence and frequency penalties look at the reply only",
        )


def require_no_drafts(what: str) -> None:
    """Raises NoiseForbids for ``what`` asks for drafts."""
    raise NoiseForbids(
        what,
        "that there is a draft depends on the clean prompt, and each rejected row is one more "
        "release",
        "leave it out; with noise every step has what was chosen, and nothing else",
    )


def require_blind_adapter(adapter: str | None) -> None:
    """Raises NoiseForbids where the choice of the adapter would depend on the message."""
    if adapter == "auto":
        raise NoiseForbids(
            "--adapter auto",
            "it chooses by the clean message, and the adapter's name is sent",
            "name the adapter, or none",
        )
