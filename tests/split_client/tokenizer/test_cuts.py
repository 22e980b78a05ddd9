"""Texts in pieces: the ids are those of the library for the whole text, whatever is in it."""

from __future__ import annotations

import json
import random
import unicodedata
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from split_client.tokenizer.cuts import Cuts, cuts_of
from split_client.tokenizer.patterns import KNOWN
from split_server.checkpoint.folder import EMBEDDED

CORPUS = (EMBEDDED / "MODEL_CARD.md").read_text()
PARTS = [
    *("a", "word", "Hello", "é", "e\u0301", "東京", "か\u3099", "한글", "Б", "ω", "'s", "'S", "’"),
    *(" ", "  ", "\n", "\n\n", "\r\n", "\t", "\u3000", ".", ",", "!?", "…", "。", "(", "1", "2345"),
    *("<|end|>", "<|e", "nd|>", "two words", "K\u212a", "ﬁ", "\U0001f600", "\u200d", "▁", "a▁b"),
    *(" word.", " the", "\u0301", ".\u0301", "end,", "<tag>", "\x00"),
]


def trained(build: Callable[[Tokenizer], None], **options: Any) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(**options))
    build(tokenizer)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=900, initial_alphabet=alphabet, show_progress=False, special_tokens=["<unk>"]
    )
    tokenizer.train_from_iterator(CORPUS.splitlines(), trainer)
    tokenizer.add_special_tokens(["<|end|>"])
    return tokenizer


def by_pattern(pattern: str) -> Tokenizer:
    def build(tokenizer: Tokenizer) -> None:
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(pattern), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<unk> $A <unk> <unk>", special_tokens=[("<unk>", 0)]
        )

    return trained(build)


def prefixed() -> Tokenizer:
    def build(tokenizer: Tokenizer) -> None:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=True)]
        )

    return trained(build)


def metaspace(scheme: str, split: bool) -> Callable[[], Tokenizer]:
    def build(tokenizer: Tokenizer) -> None:
        # Trained on words, so that no token reaches over a space; used as it is asked for.
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", scheme)

    def make() -> Tokenizer:
        tokenizer = trained(build, unk_token="<unk>", fuse_unk=True)
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", scheme, split)
        return tokenizer

    return make


def marked() -> Tokenizer:
    tokenizer = metaspace("never", True)()
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Replace("▁", " ")
    return tokenizer


KINDS: dict[str, Callable[[], Tokenizer]] = {
    "embedded": lambda: Tokenizer.from_file(str(EMBEDDED / "tokenizer.json")),
    **{f"pattern {index}": (lambda p=p: by_pattern(p)) for index, p in enumerate(sorted(KNOWN))},  # type: ignore[misc]
    "prefixed": prefixed,
    **{
        f"metaspace {scheme} {split}": metaspace(scheme, split)
        for scheme in ("always", "first", "never")
        for split in (True, False)
    },
    "marked": marked,
}


@pytest.fixture(scope="module")
def kinds() -> dict[str, tuple[Tokenizer, Cuts]]:
    made = {name: make() for name, make in KINDS.items()}
    return {name: (one, known(one)) for name, one in made.items()}


def document(tokenizer: Tokenizer) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(tokenizer.to_str())
    return value


def known(tokenizer: Tokenizer) -> Cuts:
    cuts = cuts_of(document(tokenizer))
    assert cuts is not None
    return cuts


def in_pieces(tokenizer: Tokenizer, cuts: Cuts, text: str, length: int) -> list[int]:
    pieces = [tokenizer.encode(p, add_special_tokens=False).ids for p in cuts.pieces(text, length)]
    return [*cuts.before, *(index for piece in pieces for index in piece), *cuts.after]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_in_pieces_are_those_of_the_whole(
    kinds: dict[str, tuple[Tokenizer, Cuts]], kind: str
) -> None:
    tokenizer, cuts = kinds[kind]
    rng = random.Random(kind)  # noqa: S311 - texts
    for _ in range(60):
        text = "".join(rng.choices(PARTS, k=rng.randrange(200)))
        assert in_pieces(tokenizer, cuts, text, 1) == tokenizer.encode(text).ids, text
    text = CORPUS * 3
    assert in_pieces(tokenizer, cuts, text, 500) == tokenizer.encode(text).ids
    assert max(map(len, cuts.pieces(text, 500))) <= 500


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60), st.integers(1, 9))
@example("Å. A\u030a, K\u212a ", 1)
def test_ids_of_any_text_in_pieces_are_those_of_the_whole(
    kinds: dict[str, tuple[Tokenizer, Cuts]], text: str, length: int
) -> None:
    for tokenizer, cuts in kinds.values():
        assert in_pieces(tokenizer, cuts, text, length) == tokenizer.encode(text).ids


def test_an_id_stands_for_no_more_bytes_than_is_said(
    kinds: dict[str, tuple[Tokenizer, Cuts]],
) -> None:
    tokenizer, cuts = kinds["embedded"]
    rng = random.Random(1)  # noqa: S311 - texts
    assert cuts.longest == 4 * 16
    for _ in range(200):
        text = "".join(rng.choices([*PARTS, " " * 64, "\u1fbe\u0308\u0301" * 20], k=40))
        assert len(text.encode()) <= cuts.longest * len(tokenizer.encode(text).ids)
    assert kinds["marked"][1].longest is None


def test_composing_shortens_a_character_at_most_fourfold() -> None:
    """Against every character that is canonically the same as another one."""
    spellings: dict[str, int] = defaultdict(int)
    for code in range(0x110000):
        character = chr(code)
        whole = unicodedata.normalize("NFD", character)
        if len(whole) == 1 and not 0xD800 <= code < 0xE000:
            spellings[whole] = max(spellings[whole], len(character.encode()))
    for code in range(0x110000):
        composed = chr(code)
        if 0xD800 <= code < 0xE000 or unicodedata.normalize("NFC", composed) != composed:
            continue
        longest = sum(spellings[part] for part in unicodedata.normalize("NFD", composed))
        assert longest <= 4 * len(composed.encode()), hex(code)


def test_a_text_without_a_safe_place_stays_whole(
    kinds: dict[str, tuple[Tokenizer, Cuts]],
) -> None:
    _, cuts = kinds["embedded"]
    assert list(cuts.pieces("a" * 5000 + " b", 100)) == ["a" * 5000, " b"]
    assert list(cuts.pieces("", 100)) == []


def changed(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    value = document(KINDS["embedded"]())
    change(value)
    return value


def added(**options: bool) -> Callable[[dict[str, Any]], None]:
    def change(value: dict[str, Any]) -> None:
        value["added_tokens"][0].update(options)

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.update(normalizer={"type": "NFKC"}),
        lambda value: value.update(pre_tokenizer=None),
        lambda value: value["pre_tokenizer"]["pretokenizers"][0].update(pattern={"Regex": "a+"}),
        lambda value: value["pre_tokenizer"]["pretokenizers"][0].update(behavior="Removed"),
        lambda value: value["model"].update(dropout=0.5),
        lambda value: value["model"].update(end_of_word_suffix="</w>"),
        lambda value: value.update(post_processor={"type": "RobertaProcessing"}),
        added(rstrip=True),
        added(single_word=True),
    ],
)
def test_where_a_cut_is_not_known_to_be_safe_there_is_none(
    change: Callable[[dict[str, Any]], None],
) -> None:
    assert cuts_of(changed(change)) is None


def test_no_cut_lies_within_an_added_token() -> None:
    tokenizer = KINDS["embedded"]()
    tokenizer.add_tokens([AddedToken("a. b, c", normalized=False)])
    text = "x. a. b, c. y, z\nq" * 20
    cuts = known(tokenizer)
    assert in_pieces(tokenizer, cuts, text, 1) == tokenizer.encode(text).ids
    assert "a. b, c" not in "|".join(Cuts.pieces(known(KINDS["embedded"]()), text, 1))


def test_tokens_that_reach_over_a_space_forbid_cuts_without_words() -> None:
    tokenizer = Tokenizer(models.BPE({"▁": 0, "a": 1, "a▁": 2}, [("a", "▁")]))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    assert cuts_of(document(tokenizer)) is None
