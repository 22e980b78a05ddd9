"""Lines on which tokenizers differ: digits, runs of spaces, lists, code, many scripts, controls.

The same seed gives the same lines on every machine.
"""

from __future__ import annotations

import random

BLOCKS = 100
BLOCK = 100
_SEED = "SmolLM2"
_MOST_PARTS = 24

_ENGLISH = (
    *(
        "The",
        " the",
        " quick",
        " brown",
        " fox",
        "Answer",
        " answered",
        " isn't",
        " DON'T",
        "we'll",
    ),
    *(
        " o'clock",
        " naive",
        " na\u00efve",
        " caf\u00e9",
        " internationalisation",
        "It's",
        " 'quoted'",
    ),
    *(
        ' "quoted"',
        " (in brackets)",
        " e.g.",
        " Mr.",
        ", and",
        "; but",
        ": so",
        "? ",
        "! ",
        "...",
        " \u2014 ",
    ),
    *(
        " well-known",
        " state-of-the-art",
        "http://example.org/a?b=1",
        " @name",
        " #tag",
        " 50%",
        " $3.99",
    ),
)
_DIGITS = (
    *(
        "0",
        "1",
        "7",
        "12",
        "345",
        "2024",
        " 1",
        " 42",
        " 1000",
        "1,000",
        "3.14",
        "1e-9",
        "0x1F",
        "10_000",
    ),
    *(
        "\u00bd",
        "\u00b2",
        "\u2168",
        "\u0663",
        "\u0967",
        "\u2460",
        "\u4e09",
        "a1b2",
        "v1.2.3",
        "1st",
    ),
)
_SPACES = (
    *(
        " ",
        "  ",
        "   ",
        "    ",
        "        ",
        " " * 17,
        "\t",
        "\t\t",
        "\n",
        "\n\n",
        "\n\n\n",
        "\r\n",
        " \n",
    ),
    *(
        "\n ",
        "\u00a0",
        "\u3000",
        "\u2009",
        "\u200b",
        "\u2028",
        "  1",
        "   12",
        "    7.",
        "\t3",
        "\n4",
    ),
)
_LISTS = (
    *(
        "\n\n1.",
        "\n1. ",
        "\n2) ",
        "\n- ",
        "\n* ",
        "\n10. ",
        "\n\n- [ ] ",
        "\n# ",
        "\n## 2.1 ",
        "\n| 1 | 2 |",
    ),
    *("\n```\n", "\n> ", "**1**", "__init__"),
)
_CODE = (
    *(
        "def f(x):",
        "\n    return x + 1",
        " == ",
        " != ",
        "=>",
        "->",
        "::",
        "//",
        "/* */",
        "{}",
        "[0]",
        "();",
    ),
    *(
        "\n\tif (a && b) {",
        " <= 10",
        "i++",
        '"a\\n"',
        "f'{x:>8.2f}'",
        "<div class='a'>",
        "</p>",
        "&amp;",
    ),
    *("SELECT * FROM t;", "$PATH", "a_b_c", "camelCase", "#include <stdio.h>", "0b1010", "lambda:"),
)
_SCRIPTS = (
    *(
        "\u6771\u4eac",
        " \u4f60\u597d",
        "\u3053\u3093\u306b\u3061\u306f",
        "\u30ab\u30bf\u30ab\u30ca",
        "\ud55c\uad6d\uc5b4",
    ),
    *(
        "\u3002",
        "\uff0c",
        "\uff11\uff12",
        "\u041f\u0440\u0438\u0432\u0435\u0442",
        " \u03ba\u03cc\u03c3\u03bc\u03b5",
    ),
    *(
        "\u05e9\u05dc\u05d5\u05dd",
        "\u0645\u0631\u062d\u0628\u0627",
        "\u0928\u092e\u0938\u094d\u0924\u0947",
        "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
        "\U00020000",
    ),
)
_EMOJI = (
    *(
        "\U0001f600",
        " \U0001f44d\U0001f3fd",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f",
        "\U0001f1eb\U0001f1f7",
    ),
    *("1\ufe0f\u20e3", "\u2603", "\U0001f680\U0001f680", "\u2192"),
)
_MARKS = (
    *(
        "e\u0301",
        "a\u0308\u0323",
        "\u0301",
        "n\u0303o",
        "Z\u0351\u036b\u0343",
        "\u0915\u093f",
        "\u1100\u1161",
        "\ufb01",
        "\u00c5",
    ),
)
_CONTROLS = (
    *(
        "\x00",
        "\x01",
        "\x07",
        "\x08",
        "\x0b",
        "\x0c",
        "\x1b[31m",
        "\x1f",
        "\x7f",
        "\x85",
        "\ufeff",
        "\u202e",
    ),
    *("\ufffd", "\ue000", "\uffff", "\U0010ffff"),
)
_TOKENS = (
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<file_sep>",
    "<|im_start|",
    " <|im_end|> ",
)
_KINDS = (
    *(
        _ENGLISH,
        _ENGLISH,
        _DIGITS,
        _SPACES,
        _LISTS,
        _CODE,
        _SCRIPTS,
        _EMOJI,
        _MARKS,
        _CONTROLS,
        _TOKENS,
    ),
)


def block(number: int) -> list[str]:
    """The 100 lines of one of the 100 blocks; a line may hold line breaks."""
    # Of a text, whose digest is the seed on every version of Python.
    draw = random.Random(f"{_SEED} {number}")
    return [_line(draw) for _ in range(BLOCK)]


def _line(draw: random.Random) -> str:
    """Of one to three kinds, so that parts of one kind meet."""
    kinds = draw.choices(_KINDS, k=draw.randint(1, 3))
    parts = (draw.choice(draw.choice(kinds)) for _ in range(draw.randint(1, _MOST_PARTS)))
    return "".join(_anything(draw) if draw.random() < 0.02 else part for part in parts)


def _anything(draw: random.Random) -> str:
    """A character of any kind; surrogates are none."""
    number = draw.randrange(0x11_0000 - 0x800)
    return chr(number if number < 0xD800 else number + 0x800)
