"""The compact LM head on hidden states of real chats of the embedded model."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.split_client.generation.head.compact.test_head import KERNELS, open_compact
from tests.split_client.generation.weights import write_rows

CHATS = (
    "What is split inference?",
    "Who are you?",
    "What can the server see of my chat?",
    "How do I open a bank account?",
)


@pytest.fixture(scope="module")
def hidden_states() -> np.ndarray:
    """After the final norm, for every token of prompts and greedy replies, [n, hidden]."""
    tokenizer, model = AutoTokenizer.from_pretrained(EMBEDDED), oracle.model(EMBEDDED)
    found = []
    for text in CHATS:
        message = [{"role": "user", "content": text}]
        prompt = tokenizer.apply_chat_template(message, add_generation_prompt=True)["input_ids"]
        ids = [*prompt, *oracle.greedy(EMBEDDED, list(prompt), 32)]
        with torch.inference_mode():
            found.append(model.model(torch.tensor([ids])).last_hidden_state[0].numpy())
    return np.concatenate(found)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> WeightRows:
    table = oracle.model(EMBEDDED).get_output_embeddings().weight.detach().numpy()
    return write_rows(tmp_path_factory.mktemp("rows") / "w", table, "f16")


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_top_is_that_of_the_exact_head_for_every_token(
    tmp_path: Path, hidden_states: np.ndarray, rows: WeightRows, kernel: str
) -> None:
    head, exact = open_compact(tmp_path, rows, kernel=kernel), ExactLMHead(rows, HeadSpec())
    for hidden in hidden_states:
        # A result at all is one of a shortlist: what needs every row gives none.
        found = head.top_and_rest(hidden, 50, 1.0)
        assert found is not None
        expected = exact.top(hidden, 50)
        assert found[0].ids.tolist() == expected.ids.tolist()
        assert found[0].logits.tolist() == expected.logits.tolist()
    assert len(hidden_states) > 150
