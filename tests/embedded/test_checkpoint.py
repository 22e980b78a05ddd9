"""The committed files: size, formats, tokenizer, chat template."""

from __future__ import annotations

import json

import pytest
from safetensors import safe_open
from tokenizers import Tokenizer
from transformers import AutoConfig, Qwen2ForCausalLM

from scripts.demo_model.chat import Chat
from scripts.demo_model.corpus.conversation import Conversation
from scripts.demo_model.corpus.examples import Encoder
from scripts.demo_model.embedded import EMBEDDED
from scripts.demo_model.tokenizer import SPECIAL

BUDGET = 6_000_000  # bytes, everything in the folder


def test_all_files_together_stay_within_the_size_budget() -> None:
    total = sum(path.stat().st_size for path in EMBEDDED.rglob("*") if path.is_file())
    assert 4_000_000 < total <= BUDGET


def test_only_data_formats_are_shipped() -> None:
    suffixes = {path.suffix for path in EMBEDDED.rglob("*") if path.is_file()}
    assert suffixes <= {".json", ".safetensors", ".md", ""}


def test_config_is_qwen2_with_4096_positions_and_tied_embeddings() -> None:
    config = AutoConfig.from_pretrained(EMBEDDED)
    assert config.model_type == "qwen2"
    assert config.max_position_embeddings == 4096
    assert config.tie_word_embeddings
    assert config.vocab_size == 2048


def test_checkpoint_loads_as_qwen2_with_about_two_million_parameters(chat: Chat) -> None:
    assert isinstance(chat.model, Qwen2ForCausalLM)
    assert 1_800_000 < sum(p.numel() for p in chat.model.parameters()) < 2_200_000


def test_weights_are_stored_as_float16_without_a_second_copy_of_the_head() -> None:
    with safe_open(EMBEDDED / "model.safetensors", "pt") as file:
        kinds = {file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
        assert kinds == {"F16"}
        assert "lm_head.weight" not in file.keys()  # noqa: SIM118


def test_generation_stops_at_the_end_of_turn_and_at_the_end_of_text(chat: Chat) -> None:
    ids = [chat.tokenizer.convert_tokens_to_ids(t) for t in ("<|im_end|>", "<|endoftext|>")]
    assert chat.model.generation_config.eos_token_id == ids


def test_auto_tokenizer_is_qwen2_and_special_tokens_have_the_last_ids(chat: Chat) -> None:
    assert type(chat.tokenizer).__name__ == "Qwen2Tokenizer"
    assert chat.tokenizer.convert_tokens_to_ids(list(SPECIAL)) == [2045, 2046, 2047]
    assert len(chat.tokenizer) == 2048


@pytest.mark.parametrize(
    "text",
    [
        "What is split inference?",
        "  two  spaces, a tab\t and a\n\nblank line ",
        "Ärger über naïve Zürich, 日本語, 🙂, e\u0301",
        "12345 + 67 = x' don't WE'LL",
        "<|im_start|>user\nhi<|im_end|>\n",
    ],
)
def test_plain_tokenizers_agree_with_auto_tokenizer(chat: Chat, text: str) -> None:
    plain = Tokenizer.from_file(str(EMBEDDED / "tokenizer.json"))
    ids = plain.encode(text, add_special_tokens=False).ids
    assert ids == chat.tokenizer.encode(text, add_special_tokens=False)
    assert chat.tokenizer.decode(ids) == text.replace("e\u0301", "\u00e9")


def test_training_encoding_equals_the_chat_template(chat: Chat) -> None:
    talk = Conversation("Be brief.", [("Hi!", "Hello."), ("...what is a token?", "A piece.")])
    ids = chat.tokenizer.apply_chat_template(talk.messages(), tokenize=True, return_dict=False)
    encoder = Encoder(Tokenizer.from_file(str(EMBEDDED / "tokenizer.json")))
    assert encoder.conversation(talk).ids.tolist() == ids


def test_vocabulary_in_the_file_has_no_gaps() -> None:
    data = json.loads((EMBEDDED / "tokenizer.json").read_text("utf-8"))
    ids = set(data["model"]["vocab"].values()) | {t["id"] for t in data["added_tokens"]}
    assert ids == set(range(2048))
