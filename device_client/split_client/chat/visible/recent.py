"""Attention sinks and the newest positions (StreamingLLM: Xiao et al. 2023,
https://arxiv.org/abs/2309.17453), with positions kept where they are.
"""

from __future__ import annotations

from split_wire.hiding.spans import Spans, without


def keep_recent(length: int, recent: int, fixed: Spans) -> Spans:
    """What is hidden of ``length`` positions where the ``recent`` last ones and ``fixed`` ones stay
    seen.
    """
    end = max(0, length - recent)
    return without(((0, end),), fixed) if end else ()
