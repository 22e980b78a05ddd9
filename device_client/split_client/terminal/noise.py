"""Noise as the flags ask for it."""

from __future__ import annotations

from split_client.config.reply import ReplyConfig
from split_client.generation.sampling.params import SamplingParams
from split_client.noise.errors import NoiseSettingInvalid
from split_client.noise.rules import require_blind_sampling, require_no_drafts
from split_client.noise.settings import NoiseSettings
from split_client.terminal.sampling import SettingInvalid


def noise_from(config: ReplyConfig) -> NoiseSettings | None:
    """None where neither an epsilon nor a sigma is given.

    Raises SettingInvalid for numbers that make no noise, and for a bound or norm without noise;
    NoiseForbids for drafts, and for sampling that looks at the clean prompt.
    """
    if config.noise_epsilon is None and config.noise_sigma is None:
        if config.noise_budget is not None or config.noise_clip is not None:
            raise SettingInvalid(
                "--noise-budget and --noise-clip need noise; give --noise-epsilon or --noise-sigma"
            )
        return None
    if isinstance(config.drafts, int):
        require_no_drafts(f"--drafts {config.drafts}")
    if config.draft_file is not None:
        require_no_drafts("--draft-file")
    if config.repetition_penalty is not None:
        require_blind_sampling(SamplingParams(repetition_penalty=config.repetition_penalty))
    try:
        return NoiseSettings(
            epsilon=config.noise_epsilon,
            sigma=config.noise_sigma,
            delta=config.noise_delta,
            clip=config.noise_clip,
            budget_epsilon=config.noise_budget,
            ledger=config.noise_ledger,
            identity=config.noise_identity,
        )
    except NoiseSettingInvalid as error:
        raise SettingInvalid(str(error)) from error
