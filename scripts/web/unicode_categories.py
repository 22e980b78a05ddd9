"""Write web/src/text/unicode/categories.js: general categories as the Rust tokenizers have them.

Browsers differ in the Unicode version that their regular expressions know; the pre-tokenizers of
``tokenizers`` know one. The table makes the web app's the same everywhere:

    python -m scripts.web.unicode_categories
"""

from __future__ import annotations

import string
from itertools import groupby

from tokenizers import Regex, pre_tokenizers

from scripts.paths import ROOT

TARGET = ROOT / "web/src/text/unicode/categories.js"
NAMES = "Cn Lo Ll Lu Mn So Po Lm Mc Sm Nd No Sk Nl Sc Ps Pe Pd Cf Cc Lt Me Pi Pf Pc Zs Zl Zp Co Cs"
CATEGORIES = NAMES.split()
CODES = string.ascii_uppercase + "!#$%"
SURROGATES = range(0xD800, 0xE000)
LIMIT = 0x110000
WIDTH = 100


def main() -> None:
    runs = [(code, len(list(group))) for code, group in groupby(_codes())]
    text = "".join(code + (_base36(length) if length > 1 else "") for code, length in runs)
    lines = [text[start : start + WIDTH] for start in range(0, len(text), WIDTH)]
    TARGET.write_text(_module(lines), "utf-8")


def _codes() -> list[str]:
    """One letter for each code point."""
    characters = [code for code in range(LIMIT) if code not in SURROGATES]
    text = "".join(map(chr, characters))
    codes = [CODES[CATEGORIES.index("Cs")]] * LIMIT
    for letter, name in zip(CODES, CATEGORIES, strict=True):
        if name == "Cs":
            continue
        split = pre_tokenizers.Split(Regex(rf"\p{{{name}}}+"), behavior="removed", invert=True)
        for _, (start, stop) in split.pre_tokenize_str(text):
            for index in range(start, stop):
                codes[characters[index]] = letter
    return codes


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = (string.digits + string.ascii_lowercase)[digit] + digits
    return digits


def _module(lines: list[str]) -> str:
    quoted = " +\n".join(f"  '{line}'" for line in lines)
    return (
        "// Made by scripts/web/unicode_categories.py; do not edit.\n\n"
        "/** The letter at index i stands for this category. */\n"
        f"export const CATEGORIES =\n  '{' '.join(CATEGORIES)}'.split(' ');\n"
        f"export const CODES = '{CODES}';\n\n"
        "/** Runs of code points from 0: a letter, then the length in base 36 unless it is 1. */\n"
        f"export const RUNS =\n{quoted};\n"
    )


if __name__ == "__main__":
    main()
