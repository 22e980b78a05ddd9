"""One forward pass over the new rows of several sessions.

The rows of all sessions form one sequence [1, total, H] for everything that works row by row; only
attention knows whose they are. The decoder layers are Hugging Face's own: they call the attention
function that is registered here under :data:`PACKED_ATTENTION`, with the batch among its arguments.
The idea of mixing requests within one iteration is that of Orca (Yu et al., OSDI 2022), that of
mixing slices of a prefill with decode rows that of Sarathi (Agrawal et al., 2023).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch.nn import functional
from transformers import AttentionInterface

from split_server.engine.model.attention import Masks, attend_many, attend_one
from split_server.engine.model.shared import Own, attend_shared
from split_server.engine.model.sight import Sight, attend_sighted
from split_server.engine.model.tap import AttentionTap
from split_server.kv.cache import KVCache, buffered
from split_server.kv.session_cache import SessionCache

PACKED_ATTENTION = "split_packed"
# Matrix kernels for a single row round otherwise than those for several, so without padding a reply
# would depend on whether other sessions decode; and oneDNN reads a matrix fastest for four rows.
LEAST_ROWS = 4
# Kernels take rows in groups, of which a started one costs about as much as a whole one; and they
# are compiled for each number of rows and kept, so there must not be hundreds of numbers.
_GROUP, _LARGE_GROUP, _LARGE = 8, 16, 64
# Slices with more rows spend their time on products, not on reading keys.
_FEW_ROWS = 64


@dataclass(eq=False, slots=True)
class Slice:
    """New rows of one session: keep ``start`` positions of ``cache``, append ``embeddings``
    [n, H]. ``tap`` watches the attention of the last of them.
    """

    cache: SessionCache
    start: int
    embeddings: torch.Tensor
    tap: AttentionTap | None = None

    @property
    def rows(self) -> int:
        """The number of positions that it appends."""
        return self.embeddings.shape[0]

    @property
    def end(self) -> int:
        """Positions that the cache holds afterwards."""
        return self.start + self.rows


class Attends(Protocol):
    """What a pass asks for attention."""

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        scaling: float,
        window: int | None,
        softcap: float | None,
    ) -> torch.Tensor:
        """Append keys and values [1, kv_heads, total, D] to the sessions' caches and attend with
        the queries [1, heads, total, D]; the result is [1, total, heads, D].
        """
        ...


class PackedBatch:
    """Slices of different sessions, in the order in which their rows are packed.

    ``rows``: of all slices; the pass may have more behind them, which belong to nobody, where it
    ``pads``.
    """

    # What attends several rows of a session.
    _many = staticmethod(attend_many)

    def __init__(
        self, slices: Sequence[Slice], least: int = LEAST_ROWS, *, pads: bool = True
    ) -> None:
        """``least``: rows that a pass has at least, where it pads."""
        self.slices = slices
        self._sizes = [part.rows for part in slices]
        self.rows = sum(self._sizes)
        self._padding = padded(self.rows, least) - self.rows if pads else 0
        self._masks = Masks()
        self._decode = all(size == 1 for size in self._sizes)
        self._sharing = any(part.cache.shared for part in slices)
        self._sights = {part: _sight(part) for part in slices if part.cache.hidden}

    def embeddings(self) -> torch.Tensor:
        """[1, total, H]."""
        rows = [part.embeddings for part in self.slices]
        packed = rows[0] if len(rows) == 1 else torch.cat(rows)
        if self._padding:
            packed = functional.pad(packed, (0, 0, 0, self._padding))
        return packed[None]

    def positions(self, device: torch.device) -> torch.Tensor:
        """[1, total]: each row's position within its own session."""
        if self._decode:
            starts = [part.start for part in self.slices] + [0] * self._padding
            return torch.tensor([starts], device=device)
        spans = [torch.arange(part.start, part.end, device=device) for part in self.slices]
        return functional.pad(torch.cat(spans), (0, self._padding))[None]

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        scaling: float,
        window: int | None,
        softcap: float | None,
    ) -> torch.Tensor:
        """As :meth:`Attends.attend`."""
        spec = Spec(layer, query.shape[1], keys.shape[1], scaling, window, softcap)
        padding = query.shape[2] - self.rows
        if padding:
            query, keys, values = (x.narrow(2, 0, self.rows) for x in (query, keys, values))
        elif len(self.slices) == 1 and not self._sharing:
            return self._attended(self.slices[0], spec, query, keys, values)
        parts = zip(
            self.slices,
            torch.split(query, self._sizes, dim=2),
            torch.split(keys, self._sizes, dim=2),
            torch.split(values, self._sizes, dim=2),
            strict=True,
        )
        if self._sharing:
            out = self._attended_together(spec, list(parts))
        else:
            out = [self._attended(part, spec, *own) for part, *own in parts]
        if padding:
            out.append(query.new_zeros(1, padding, spec.heads, query.shape[3]))
        return out[0] if len(out) == 1 else torch.cat(out, dim=1)

    def _attended_together(self, spec: Spec, parts: Sequence[_Rows]) -> list[torch.Tensor]:
        """:meth:`_attended` of each; those with the same first positions read them once."""
        out = dict[int, torch.Tensor]()
        groups: defaultdict[tuple[KVCache, int], list[tuple[int, Own]]] = defaultdict(list)
        for index, (part, query, keys, values) in enumerate(parts):
            cache = buffered(part.cache)
            base = cache.base
            if base is None or not spec.may_share(part):
                out[index] = self._attended(part, spec, query, keys, values)
            else:
                cached = cache.layer(spec.layer).append(keys, values)
                groups[base, cache.shared].append((index, Own(query, *cached)))
        for (base, shared), members in groups.items():
            whole = base.layer(spec.layer)
            held = (whole.keys[:, :, :shared], whole.values[:, :, :shared])
            owns = [own for _, own in members]
            found = attend_shared(*held, owns, spec.scaling, self._masks)
            out.update(zip((index for index, _ in members), found, strict=True))
        return [out[index] for index in range(len(parts))]

    def _attended(
        self,
        part: Slice,
        spec: Spec,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
    ) -> torch.Tensor:
        """[1, n, heads, D] for the new rows of ``part``, after they were appended."""
        cached = buffered(part.cache).append(spec.layer, keys, values)
        sight = self._sights.get(part) if self._sights else None
        if sight is not None and spec.window is not None and sight.narrows(spec.window):
            return _sighted(part, spec, sight, spec.window, query, *cached)
        if query.shape[2] == 1:
            return _one_row(part, spec, query, *cached)
        return self._rows(part, spec, query, *cached)

    def _rows(
        self,
        part: Slice,
        spec: Spec,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
    ) -> torch.Tensor:
        """[1, n, heads, D] for ``query`` [1, heads, n, D]."""
        _show_tap(part, spec, query, keys)
        attended = self._many(
            query, keys, values, spec.scaling, spec.window, spec.softcap, self._masks
        )
        return attended.transpose(1, 2)


def padded(rows: int, least: int = LEAST_ROWS) -> int:
    """The number of rows that a pass over ``rows`` rows has, at least ``least``."""
    if rows <= LEAST_ROWS:
        return max(rows, least)
    group = _GROUP if rows <= _LARGE else _LARGE_GROUP
    return -(-rows // group) * group


class Spec(NamedTuple):
    """The parameters that the slices of one layer have in common."""

    layer: int
    heads: int
    kv_heads: int
    scaling: float
    window: int | None
    softcap: float | None

    def grouped(self, query: torch.Tensor) -> torch.Tensor:
        """``query`` [1, heads, 1, D] as [1, kv_heads, rep, D]."""
        return query.reshape(1, self.kv_heads, self.heads // self.kv_heads, query.shape[3])

    def may_share(self, part: Slice) -> bool:
        """Whether the rows of ``part`` may be merged from two kernels' parts."""
        narrow = self.window is not None and self.window < part.end
        return part.tap is None and self.softcap is None and not narrow and part.rows <= _FEW_ROWS


# A slice with its queries [1, heads, n, D], keys and values [1, kv_heads, n, D] of a layer.
_Rows = tuple[Slice, torch.Tensor, torch.Tensor, torch.Tensor]


def _show_tap(part: Slice, spec: Spec, query: torch.Tensor, keys: torch.Tensor) -> None:
    """Show the tap, where there is one, the last row of ``query`` [1, heads, n, D]."""
    if part.tap is not None and part.tap.wants(spec.layer):
        last = spec.grouped(query[:, :, -1:])
        part.tap.observe(spec.layer, last[0], keys, spec.scaling, spec.window, spec.softcap)


def _sight(part: Slice) -> Sight:
    """What the rows of ``part`` see, which its tap is told."""
    sight = Sight(part.cache.hidden, part.start, part.end)
    if part.tap is not None:
        part.tap.places = sight.positions
    return sight


def _sighted(
    part: Slice,
    spec: Spec,
    sight: Sight,
    window: int,
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
) -> torch.Tensor:
    """[1, n, heads, D] for ``query`` [1, heads, n, D] of a slice whose ``window`` counts positions
    that are hidden.
    """
    last = spec._replace(window=sight.last(window))
    if query.shape[2] == 1:
        return _one_row(part, last, query, keys, values)
    _show_tap(part, last, query, keys)
    attended = attend_sighted(query, keys, values, spec.scaling, window, spec.softcap, sight)
    return attended.transpose(1, 2)


def _one_row(
    part: Slice, spec: Spec, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
) -> torch.Tensor:
    """[1, 1, heads, D] for ``query`` [1, heads, 1, D]."""
    last = spec.grouped(query)
    if part.tap is None or not part.tap.wants(spec.layer):
        attended = attend_one(last, keys, values, spec.scaling, spec.window, spec.softcap)
    else:
        # The tap has the weights anyway; weighing the values with them beats a second kernel.
        attended = part.tap.attend(
            spec.layer, last[0], keys, values, spec.scaling, spec.window, spec.softcap
        )
    return attended.reshape(1, 1, spec.heads, query.shape[3])


def _attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,  # noqa: ARG001
    *,
    scaling: float,
    packed: Attends,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """The function that Hugging Face attention layers call; no mask is built, causality is ours."""
    attended = packed.attend(module.layer_idx, query, key, value, scaling, sliding_window, softcap)
    return attended, None


AttentionInterface.register(PACKED_ATTENTION, _attention)
