"""Fields of KoboldCpp's and KoboldAI's references that nobody reads here."""

from __future__ import annotations

from split_server.compat.accepted.samplers import SAMPLERS
from split_server.compat.accepted.values import Accepted

KOBOLD = SAMPLERS | Accepted(
    frozenset(
        {
            # The prompt is never cut, so that the context that a client counts with is its own.
            "max_context_length",
            # What the server writes to its log.
            "quiet",
            # Marks that KoboldAI Lite replaces itself, and the end that it cuts by itself.
            "replace_instruct_placeholders",
            "trim_stop",
            # KoboldAI's settings of its own.
            "disable_input_formatting",
            "disable_output_formatting",
            "frmtadsnsp",
            "frmtrmblln",
            "frmtrmspch",
            "frmttriminc",
            "singleline",
            "sampler_full_determinism",
            "use_authors_note",
            "use_memory",
            "use_story",
            "use_userscripts",
            "use_world_info",
        }
    ),
    {
        "audio": ([],),
        "banned_strings": ([],),
        "grammar_retain_state": (False,),
        "images": ([],),
        "render_special": (False,),
        "softprompt": ("",),
    },
)
