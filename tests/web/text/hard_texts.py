"""Texts that tokenizers stumble over, made from a seed."""

# ruff: noqa: E501

from __future__ import annotations

import random
import unicodedata
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
LANGUAGES = [
    "The quick brown fox doesn't jump over the lazy dog's 1,234 fences; it's 5 o'clock. We'll see, I'd say!",
    "Falsches Üben von Xylophonmusik quält jeden größeren Zwerg. Straße, Maß, Äpfel.",
    "Voix ambiguë d'un cœur qui, au zéphyr, préfère les jattes de kiwis. L'été, déjà.",
    "Ταχίστη αλώπηξ βαφής ψημένη γη, δρασκελίζει υπέρ νωθρού κυνός.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. Москва, 2024 год.",
    "天地玄黃 宇宙洪荒。你好,世界!模型在服务器上运行。",
    "いろはにほへと ちりぬるを。カタカナとひらがな、漢字も。",
    "키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.",
    "صِف خَلقَ خَودِ كَمِثلِ الشَمسِ إِذ بَزَغَت ١٢٣",
    "दीवारबंद जयपुर ऐसी दुनिया है जो लगभग १२३ साल पुरानी है।",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน",
    "👩‍👩‍👧‍👦 family 🏳️‍🌈 flag 👍🏽 thumbs 🇩🇪 🇯🇵 😀😃😄 ❤️ ©®™",
    "def f(x: int) -> str:\n    return f'{x!r}\\n'  # comment\n\n\tif a == b != c:\n\t\tpass\r\n",
    '{"a": [1, 2.5e-3, null, true], "b": {"c": "\\u00e9"}}',
    "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β = ¬(¬α ∨ β), ∮ E⋅da = Q, n → ∞, ½ ⅓ Ⅻ ² ③",
]
CORPUS = [*LANGUAGES * 3, *(Path(__file__).read_text("utf-8").split("\n"))]
PIECES = [
    " ", "  ", "   ", "\n", "\n\n", "\r\n", "\r", "\t", "\u00a0", "\u0085", "\u2028", "\u3000", "\ufeff",
    "\u200b", "\u200d", "\u200c", "\x00", "\x1c", "\x7f", "'s", "'S", "'ſ", "'LL", "'Re", "K", "'", '"', "-", "--",
    "_", "…", "▁", "▁▁", " ▁", "Ġ", "é", "e\u0301", "ñ", "n\u0303", "ﬁ", "ß", "İ", "ı", "ǅ", "ʕ", "Å", "\u1100\u1161\u11a8",
    "각", "\u0344", "\u0958", "\u2126", "\ufb1d", "\U0001d15e", "\U0001f468\u200d\U0001f469", "\U0001f1e9\U0001f1ea",
    "😀", "�", "\ufffe", "\U0010ffff", "\ue000", "1", "12", "123", "1234", "٣", "²", "½", "Ⅷ", "①", "a", "A", "z",
    "the", " the", "The", "word", "wörd", "words", "normal", "normal word", "é", "<|plain|>", "<left>", "<right>",
    "<both>", "<|plain|><|plain|>x", "<|end|>", "<|start|>", "<s>", "</s>", "<unk>", "<0x41>", "<0xE4>", "[UNK]",
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_start", "|>", "你", "好", "한", "ใ", "\u0e33", "ا", "\u064b", "\u0301",
    "\u0316", "\u0345", "\u0897", "\U00010d69", "\U000113c2", "\U000113b8", "\U0001611e", "\U0001d165", "\U000e0041",
    "\u088f", "\u1acf", "\u20c1", "\U00011de3", "\U00016ff4", "\u2b96", "http://x.y/z?a=b&c", "{{", "}}", "\\n", "/",
]  # fmt: skip


def hard_texts(count: int, seed: int) -> list[str]:
    """Joined pieces, random code points, cut and mangled sentences."""
    chance = random.Random(seed)  # noqa: S311
    makers = [_joined, _joined, _random, _cut, _normalised]
    texts = ["", *PIECES]
    while len(texts) < count:
        texts.append(makers[len(texts) % len(makers)](chance))
    return texts


def code_points() -> list[str]:
    """Every character of planes 0 to 3, and the tags and selectors of plane 14."""
    numbers = [*range(0xD800), *range(0xE000, 0x40000), *range(0xE0000, 0xE0200)]
    return [chr(number) for number in numbers]


def contexts(character: str) -> list[str]:
    """The character where what is beside it counts."""
    return [
        character,
        f"a{character}b {character}1{character} .{character}{character}\n",
        f"a{character}\u0301\u0316{character}\u0301 {character}'s",
        f"<|plain|>{character}word{character}<both> {character} <left>",
    ]


def _joined(chance: random.Random) -> str:
    return "".join(chance.choices(PIECES, k=chance.randint(1, 14)))


def _random(chance: random.Random) -> str:
    limits = chance.choice([0x80, 0x250, 0x3000, 0x10000, 0x20000, 0x40000])
    numbers = (chance.randrange(limits) for _ in range(chance.randint(1, 24)))
    return "".join(chr(number) for number in numbers if not 0xD800 <= number < 0xE000)


def _cut(chance: random.Random) -> str:
    text = chance.choice(LANGUAGES)
    start = chance.randrange(len(text))
    part = text[start : start + chance.randint(1, 60)]
    return part if chance.random() < 0.5 else part.upper() if chance.random() < 0.5 else part[::-1]


def _normalised(chance: random.Random) -> str:
    return unicodedata.normalize(
        chance.choice(["NFD", "NFKD", "NFC"]), _joined(chance) + _cut(chance)
    )
