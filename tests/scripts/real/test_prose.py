"""Plain prose from pages of Markdown."""

from __future__ import annotations

from scripts.real.texts.prose import plain


def test_paragraphs_lose_their_marks_and_all_else_is_left_out() -> None:
    long = "word " * 20
    page = (
        f"# Title\n\n{long}with a [link](other.md#place),\nsome `code` and **weight**.\n\n"
        f"| a | {long} |\n| --- | --- |\n\n```sh\n{long}\n\n{long}\n```\n\n![{long}](image.svg)\n\n"
        f"short\n\nSecond {long}"
    )
    assert plain(page) == f"{long}with a link, some code and weight.\nSecond {long}".strip()
