"""Samplers of other servers that this one does not have, as their clients send them."""

from __future__ import annotations

from split_server.compat.accepted.values import Accepted

# Each is off at these values. What further fields say of one is harmless, as it is off.
SAMPLERS = Accepted(
    harmless=frozenset(
        {
            "adaptive_decay",
            "dry_allowed_length",
            "dry_base",
            "dry_penalty_last_n",
            "dry_range",
            "dry_sequence_breakers",
            "dynatemp_exponent",
            "dynatemp_high",
            "dynatemp_low",
            "min_keep",
            "mirostat_eta",
            "mirostat_tau",
            "negative_prompt",
            "rep_pen_decay",
            "rep_pen_slope",
            "repetition_decay",
            # Filters are applied in one order, whatever a client says: docs/openai-api.md.
            "sampler_order",
            "sampler_priority",
            "samplers",
            "smoothing_curve",
            "temperature_last",
            "xtc_threshold",
        }
    ),
    neutral={
        # SillyTavern's own way to say none.
        "adaptive_target": (-1, 0, -0.01),
        "dry_multiplier": (0,),
        "dynamic_temperature": (False,),
        "dynatemp": (False,),
        "dynatemp_range": (0,),
        "early_stopping": (False,),
        "encoder_repetition_penalty": (1,),
        "epsilon_cutoff": (0,),
        "eta_cutoff": (0,),
        "guidance_scale": (1,),
        "length_penalty": (1,),
        "min_length": (0,),
        "mirostat": (0,),
        "mirostat_mode": (0,),
        "no_repeat_ngram_size": (0, -1),
        "nsigma": (0, -1),
        "num_beams": (1,),
        "penalty_alpha": (0,),
        "smoothing_factor": (0,),
        "tfs": (1,),
        "tfs_z": (1,),
        "top_a": (0,),
        "top_n_sigma": (0, -1),
        "typical": (1,),
        "typical_p": (1,),
        "use_beam_search": (False,),
        "xtc_probability": (0,),
    },
)
