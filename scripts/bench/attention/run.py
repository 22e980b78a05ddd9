"""The cost of full attention with every token, over the binary socket and as base64 in events.

One real split-server and one client process; interleaved rounds of the same greedy reply without
attention, with it over the binary socket, and with it over server-sent events. The client turns
every token's attention into an array. What the prompt costs is not counted: times begin with the
first token, whether or not the server still holds the prompt from the reply before. Tokens and rows
are checked before anything is timed.
"""

from __future__ import annotations

import argparse
import contextlib

from scripts.bench.attention.report import beside_specification, costs
from scripts.bench.attention.rounds import Lengths, Round, measured, prompt_ids
from scripts.bench.logged_server import logged_server, server_folder
from scripts.bench.options import add_server_option
from scripts.bench.report import finish, heading
from scripts.bench.shapes import SHAPES, served_checkpoint
from scripts.bench.workers import Worker


def main() -> None:
    options = _options()
    lengths = Lengths(options.tokens, min(options.event_tokens, options.tokens))
    with contextlib.ExitStack() as stack:
        folder = server_folder(stack, options.folder)
        path = served_checkpoint(options.shape, folder, options.dtype)
        arguments = ("--model", str(path), "--dtype", options.dtype, *options.server)
        server = stack.enter_context(logged_server(folder / "server.log", *arguments))
        client = Worker("scripts.bench.attention.client", server.url, str(server.process.pid))
        stack.callback(client.close)
        model = client.ask(op="model")
        # In bfloat16 the watched attention rounds otherwise, and random weights turn on that.
        exact = options.dtype == "float32"
        heads = model["num_layers"] * model["num_attention_heads"]
        prompts = {context: prompt_ids(context, model) for context in options.contexts}
        checked = [
            client.ask(
                op="check",
                ids=ids,
                tokens=min(options.checked, options.tokens),
                rows=heads,
                exact=exact,
            )
            for ids in prompts.values()
        ]
        rounds = {
            context: measured(client, ids, lengths, options.rounds, exact)
            for context, ids in prompts.items()
        }
        faults = server.faults()
    furthest = max(one["furthest_sum"] for one in checked)
    _report(options, lengths, heads, rounds, furthest)
    finish([f"the server's log: {fault}" for fault in faults])


def _report(
    options: argparse.Namespace,
    lengths: Lengths,
    heads: int,
    rounds: dict[int, list[Round]],
    furthest: float,
) -> None:
    exact = options.dtype == "float32"
    tokens = "all forms have the same tokens" if exact else "tokens are compared in float32 only"
    print(heading(f"Attention, shape {options.shape}", options.dtype))
    print(
        f"{lengths.tokens} tokens ({lengths.events} over events, beside as many without attention) "
        f"with {heads} float32 rows each, {options.rounds} interleaved rounds, median (minimum to "
        "maximum). Context is the prompt's length; times begin with the first token. "
        f"Rows sum to 1 within {furthest:.0e}; "
        f"{tokens}.\n"
    )
    print(costs(rounds, options.shape))
    print(beside_specification(rounds))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=["embedded", *SHAPES], default="m")
    parser.add_argument(
        "--dtype",
        choices=["bfloat16", "float32"],
        help="default: float32 for the embedded model, else bfloat16",
    )
    parser.add_argument("--folder", help="keep checkpoint, weights and log here")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--event-tokens", type=int, default=64, help="of a reply over events")
    parser.add_argument("--contexts", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--checked", type=int, default=16, help="tokens whose rows are checked")
    add_server_option(parser)
    options = parser.parse_args()
    if options.dtype is None:
        options.dtype = "float32" if options.shape == "embedded" else "bfloat16"
    if min(options.tokens, options.event_tokens) < 2:
        parser.error("a time per token needs at least two tokens")
    return options


if __name__ == "__main__":
    main()
