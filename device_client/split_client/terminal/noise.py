"""Noise as the flags ask for it."""

from __future__ import annotations

from split_client.config import NoiseConfig
from split_client.noise.errors import NoiseSettingInvalid
from split_client.noise.settings import NoiseSettings
from split_client.terminal.sampling import SettingInvalid


def noise_from(config: NoiseConfig) -> NoiseSettings | None:
    """None where neither an epsilon nor a sigma is given.

    Raises SettingInvalid for numbers that make no noise, and for a bound or norm without noise.
    """
    if config.noise_epsilon is None and config.noise_sigma is None:
        if config.noise_budget is not None or config.noise_clip is not None:
            raise SettingInvalid(
                "--noise-budget and --noise-clip need noise; give --noise-epsilon or --noise-sigma"
            )
        return None
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
