"""One forward pass of one session: truncate, append, return final-norm hidden states."""

from __future__ import annotations

import torch

from split_server.engine.convert import to_torch, to_wire
from split_server.engine.loader import Backbone
from split_server.engine.threads import choose_threads
from split_server.kv.cache import KVCache
from split_wire.messages import Rows
from split_wire.tensor import Tensor, WireDtype


class ModelRunner:
    """Runs on one thread; the only place that touches tensors.

    ``threads``: of one matrix product; 0 chooses by the size of the matrices.
    """

    def __init__(self, backbone: Backbone, threads: int = 0) -> None:
        self._backbone = backbone
        self._threads = choose_threads(backbone.parameters, threads)

    def warm_up(self) -> None:
        """Set up the calling thread and run one small pass.

        Without it the first user would pay for lazy initialisation.
        """
        torch.set_num_threads(self._threads)
        width = self._backbone.info.hidden_size
        rows = Tensor("f32", (2, width), bytes(8 * width))
        self.run(KVCache(), 0, rows, "last", "f32")

    @torch.inference_mode()
    def run(
        self, cache: KVCache, start: int, embeddings: Tensor, rows: Rows, dtype: WireDtype
    ) -> Tensor:
        """Keep ``start`` positions, append ``embeddings`` [n, H]; hidden states [n or 1, H] in
        ``dtype``.

        When it fails, ``cache`` holds ``start`` positions. Raises HiddenOverflow when the model
        overflows.
        """
        backbone = self._backbone
        inputs = to_torch(embeddings, backbone.dtype, backbone.device)
        cache.truncate(start)
        end = start + embeddings.rows
        try:
            positions = torch.arange(start, end, device=backbone.device)
            hidden = backbone.module(
                inputs_embeds=inputs[None],
                position_ids=positions[None],
                past_key_values=cache.layers,
                use_cache=True,
            ).last_hidden_state[0]
            wanted = to_wire(hidden if rows == "all" else hidden[-1:], dtype)
        except BaseException:
            cache.truncate(start)
            raise
        cache.grown_to(end)
        return wanted
