"""The model's document for Kobold clients."""

from __future__ import annotations

from tokenizers import Tokenizer
from tokenizers.models import BPE

from split_client.model.tokenizer import ModelTokenizer
from split_client.tokenizer.engine import LibraryEngine
from split_server.compat.kobold.model import special_tokens

EOS = {"eos_token": "</s>"}


def _tokenizer(*special: str) -> ModelTokenizer:
    library = Tokenizer(BPE())
    library.add_special_tokens(list(special))
    return ModelTokenizer(LibraryEngine(library), 100)


def test_special_tokens_have_every_key_of_the_specification_null_where_there_is_none() -> None:
    assert special_tokens(EOS, _tokenizer("</s>")) == {
        "bos_token": None,
        "eos_token": "</s>",
        "pad_token": None,
        "im_start_id": None,
        "im_end_id": None,
    }


def test_the_marks_of_a_turn_are_told_by_their_ids() -> None:
    told = special_tokens(EOS, _tokenizer("</s>", "<|im_start|>", "<|im_end|>"))
    assert (told["im_start_id"], told["im_end_id"]) == (1, 2)
