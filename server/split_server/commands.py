"""``split-server``: serve the middle of a model, print the manifest of its ends or its memory."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from split_server.caching.commands import add_cache_command, run_cache
from split_server.checkpoint.catalog import build_catalog
from split_server.checkpoint.folder import open_checkpoint
from split_server.checkpoint.gguf.importing import imported_folder
from split_server.checkpoint.manifest import Manifest, build_manifest
from split_server.errors import ServerError
from split_server.pairing.codes import LIFETIME
from split_server.pairing.commands import (
    StateConfig,
    add_pairing_commands,
    devices_lines,
    invitation,
)
from split_server.pairing.state import StateFolder
from split_server.serving.adapter_host.config import AdapterHostConfig
from split_server.serving.config import ComputeConfig, ServerConfig
from split_server.serving.engines.checkpoint import open_for
from split_server.serving.greeting import PRIVACY
from split_server.serving.health import require_health
from split_server.serving.settings.given_models import named_configs, only_model
from split_server.serving.settings.models import ModelConfig
from split_settings import SettingsError, add_arguments, load
from split_settings.completion import SHELLS, add_completion, completion, name_lines
from split_settings.output import while_read
from split_settings.version import add_version
from split_settings.visible import visible

_ADAPTERS = (
    "Host adapters without seeing hidden states: devices send ciphertexts under keys of their own. "
    "Needs neither torch nor a model."
)
_FAILED, _USAGE, _INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0, 1 (cannot start), 2 (bad settings) or 130 (Ctrl-C)."""
    return while_read(lambda: _main(arguments))


def _main(arguments: Sequence[str] | None) -> int:
    given = _parser().parse_args(arguments)
    try:
        if given.command == "completion":
            return _completion(given.shell)
        if given.command == "status":
            return _status(json=given.json)
        if given.command == "manifest":
            return _manifest(load(ModelConfig, given, also=(ServerConfig,)), json=given.json)
        if given.command == "import":
            folder = imported_folder(given.file, given.folder, given.dtype)
            return _print([f"{folder}: serve it with --model {folder}"])
        if given.command == "plan":
            return _plan(load(ComputeConfig, given, also=(ServerConfig,)))
        if given.command == "adapters":
            return _adapters(load(AdapterHostConfig, given))
        if given.command == "pair":
            return _pair(load(StateConfig, given, also=(ServerConfig,)), given.url)
        if given.command == "devices":
            state = load(StateConfig, given, also=(ServerConfig,)).state
            return _print(devices_lines(StateFolder(state), given.action, given.device))
        if given.command == "health":
            return _health(load(ServerConfig, given))
        if given.command == "cache":
            return run_cache(given, load(ServerConfig, given), _print)
        return _serve(load(ServerConfig, given))
    except SettingsError as error:
        return _complain(str(error), _USAGE)
    except ServerError as error:
        return _complain(f"{error} [{error.code}]", _FAILED)
    except KeyboardInterrupt:
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="split-server", description="Serve the middle of a language model."
    )
    add_version(parser)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="load a model and serve it", description=PRIVACY)
    add_arguments(serve, ServerConfig)
    manifest = commands.add_parser("manifest", help="print what a device has to fetch")
    add_arguments(manifest, ModelConfig)
    manifest.add_argument("--json", action="store_true", help="print the manifest as it is served")
    plan = commands.add_parser("plan", help="print how many sessions and tokens fit into memory")
    add_arguments(plan, ComputeConfig)
    imported = commands.add_parser("import", help="make a checkpoint's folder of a GGUF file")
    imported.add_argument("file", type=Path, metavar="FILE.gguf")
    imported.add_argument(
        "--as",
        dest="folder",
        type=Path,
        metavar="FOLDER",
        help="a folder that does not exist yet (default: in the cache, where --model FILE.gguf "
        "looks for it)",
    )
    imported.add_argument(
        "--dtype",
        choices=("bfloat16", "float32"),
        default="bfloat16",
        help="of the stored weights; float32 keeps what bfloat16 rounds, in twice the bytes",
    )
    adapters = commands.add_parser(
        "adapters", help="compute adapters on ciphertexts of devices", description=_ADAPTERS
    )
    add_arguments(adapters, AdapterHostConfig)
    health = commands.add_parser("health", help="ask the server of this machine whether it serves")
    add_arguments(health, ServerConfig)
    add_cache_command(commands)
    add_pairing_commands(commands)
    status = commands.add_parser("status", help="list this user's running servers")
    status.add_argument("--json", action="store_true", help="one JSON document")
    add_completion(commands, names=("models",))
    return parser


def _complain(message: str, status: int) -> int:
    print(f"split-server: {visible(message)}", file=sys.stderr)
    return status


def _completion(what: str) -> int:
    if what in SHELLS:
        return _print([completion(_parser(), what).rstrip("\n")])
    # The hub's library knows where its cache is; it takes a while to import.
    from split_server.checkpoint.hub_cache import cached_models

    print(name_lines(cached_models()), end="")
    return 0


def _status(*, json: bool) -> int:
    from split_server.serving.presence import running_servers
    from split_server.serving.status import document, lines

    found = running_servers()
    _print([document(found)] if json else lines(found, time.time()))
    return 0 if found else _FAILED


def _manifest(config: ModelConfig, *, json: bool) -> int:
    checkpoint = open_checkpoint(only_model(config).path)
    manifest = build_manifest(checkpoint, build_catalog(checkpoint))
    if json:
        sys.stdout.write(manifest.data.decode() + "\n")
        return 0
    for line in _described(manifest):
        print(line)
    return 0


def _described(manifest: Manifest) -> list[str]:
    document = manifest.document
    model = document["model"]
    files = [f"  {file['name']:<20} {file['size']:>15,} bytes" for file in document["files"]]
    return [
        f"{model['name']} ({model['family']}), licence {model['licence'] or 'not stated'}",
        f"hidden size {document['hidden_size']}, {document['vocab_size']} embedding rows, "
        f"{document['num_layers']} layers, context {document['max_context']}",
        f"manifest {manifest.digest}",
        *files,
    ]


def _pair(config: StateConfig, url: str | None) -> int:
    return _print(invitation(StateFolder(config.state), url, time.time()).lines(LIFETIME / 60))


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        print(line, flush=True)
    return 0


def _plan(config: ComputeConfig) -> int:
    models = named_configs(config)
    if len(models) > 1:
        # Torch, which knows the devices, takes seconds to import.
        from split_server.serving.loading.together import described_models

        return _print(described_models(models))
    ((_, one),) = models
    checkpoint = open_for(one)
    if one.engine == "llama":
        from split_server.serving.engines.llama_middle import described_llama_plan

        return _print(described_llama_plan(one, checkpoint))
    from split_server.serving.plan import described_plan

    return _print(described_plan(one, checkpoint))


def _adapters(config: AdapterHostConfig) -> int:
    # The transport comes with the server's dependencies.
    from split_server.serving.adapter_host.cli import serve_adapters

    return serve_adapters(config, _print)


def _health(config: ServerConfig) -> int:
    return _print([f"{require_health(config)} serves"])


def _serve(config: ServerConfig) -> int:
    # The transport comes with the server's dependencies, and torch takes seconds to import.
    from split_server.serving.process import serve

    return serve(config, _print)
