"""The bars of docs/redaction.md, of a real server with the embedded model.

    python -m scripts.bench.redaction.run

Plants numbers in ten spellings and reads what was sent by looking rows up; counts names of a list
that does not ship (``pip install mimesis phonenumbers``, both among the dependencies for
development); undoes replies; takes times.
"""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from scripts.bench.logged_server import logged_server, server_folder
from scripts.bench.redaction.leaks import Leaks, leaks
from scripts.bench.redaction.recall import LOCALES, mistaken, recall
from scripts.bench.redaction.replies import wrong_replies
from scripts.bench.redaction.speed import speeds
from scripts.bench.redaction.values import values
from scripts.bench.report import finish, heading
from scripts.paths import ROOT
from split_client import SplitClient

_BAR = 2.0


def main() -> None:
    options = _options()
    print(heading("Redaction", "float32"))
    problems = []
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        server = stack.enter_context(logged_server(folder / "server.log"))
        client = stack.enter_context(_client(server.url, folder))
        rows = client.manifest.vocab_size
        problems += _leaks(client, rows, options)
        problems += _times(client)
        problems += server.faults()
    problems += _replies(options)
    _names(options)
    finish(problems)


def _client(url: str, folder: Path) -> SplitClient:
    """One whose rows travel each time, with nothing of an earlier session in their place."""
    return SplitClient(url, cache=folder / "cache", server_cache="off")


def _leaks(client: SplitClient, rows: int, options: argparse.Namespace) -> list[str]:
    plain = leaks(client, values(6, 1), rows, redact=False)
    print(f"without redaction: {len(plain.leaked)} of {plain.planted.total()} are read")
    found = leaks(client, values(options.values, options.seed), rows)
    print(f"{found.values} values, {_counts(found)} spellings, {found.rows} characters read")
    print(f"with redaction: {len(found.leaked)} of {found.planted.total()} are read")
    missed = [] if len(plain.leaked) == plain.planted.total() else ["the look-up reads too little"]
    return [*missed, *(f"leaked: {leak}" for leak in found.leaked[:20])]


def _counts(found: Leaks) -> str:
    return ", ".join(f"{count} of {kind}s" for kind, count in sorted(found.planted.items()))


def _times(client: SplitClient) -> list[str]:
    tokenizer = client.ends.tokenizer
    found = speeds(ROOT / "docs", lambda text: len(tokenizer.encode(text)))
    for name, each in found.items():
        print(f"{name}: {each:.2f} ms per KB")
    return [f"{name}: more than {_BAR} ms" for name, each in found.items() if each > _BAR]


def _replies(options: argparse.Namespace) -> list[str]:
    wrong = wrong_replies(options.replies, options.seed)
    print(f"replies that did not come back exactly: {len(wrong)} of {options.replies}")
    return [f"wrong: {each!r}" for each in wrong[:5]]


def _names(options: argparse.Namespace) -> None:
    print(f"| names | all | {' | '.join(LOCALES)} |")
    print(f"| --- | --- | {' | '.join('---' for _ in LOCALES)} |")
    for name, shares in recall(options.names, options.seed).items():
        cells = " | ".join(f"{shares[locale]:.0%}" for locale in ("all", *LOCALES))
        print(f"| {name} | {cells} |")
    taken, words = mistaken(ROOT / "docs")
    print(f"words of docs/ taken for names: {taken} of {words}")


def _options() -> argparse.Namespace:
    made = argparse.ArgumentParser(description="What redaction lets through, and what it costs.")
    made.add_argument("--values", type=int, default=5000)
    made.add_argument("--replies", type=int, default=2000)
    made.add_argument("--names", type=int, default=300, help="of each locale and sentence")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--folder", help="keep the server's files here")
    return made.parse_args()


if __name__ == "__main__":
    main()
