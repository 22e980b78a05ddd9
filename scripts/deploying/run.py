"""Runs the parts of the check and says what each came to."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from scripts.deploying import balancers, image, kubernetes, lint, serve, units
from scripts.deploying.part import NotHere, PartFailed


def parts(options: argparse.Namespace) -> dict[str, Callable[[], str]]:
    """Each part by its name; what it returns is what it checked."""
    return {
        "units": units.check,
        "dockerfile": lint.check,
        "haproxy": balancers.check_haproxy,
        "nginx": balancers.check_nginx,
        "kubernetes": kubernetes.check,
        "kubernetes-haproxy": kubernetes.check_haproxy,
        "kubernetes-cluster": kubernetes.check_cluster,
        "ray": serve.check,
        "doors": balancers.check_doors,
        "image": lambda: image.check(options),
    }


def main() -> None:
    options = _options()
    failed = False
    for name, check in parts(options).items():
        if options.parts and name not in options.parts:
            print(f"not asked for  {name}")
            continue
        failed |= not _ran(name, check)
    raise SystemExit(failed)


def _ran(name: str, check: Callable[[], str]) -> bool:
    """Run one part and say so; False where it failed."""
    began = time.monotonic()
    try:
        said = check()
    except NotHere as reason:
        print(f"not run here   {name}: {reason}", flush=True)
        return True
    except Exception as error:  # noqa: BLE001 (one part must not keep the next from running)
        kind = "" if isinstance(error, PartFailed) else f"{type(error).__name__}: "
        print(f"FAILED         {name}: {kind}{error}", flush=True)
        return False
    print(f"green          {name}: {said} ({time.monotonic() - began:.0f} s)", flush=True)
    return True


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/check_deploy", description=__doc__)
    known = list(parts(argparse.Namespace()))
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(known)}")
    parser.add_argument("--base", help="base image of the build (default: the Dockerfile's)")
    parser.add_argument(
        "--debootstrap", metavar="URL", help="make the base from this mirror of Debian instead"
    )
    parser.add_argument(
        "--build-option", action="append", default=[], help="one more word for the build"
    )
    options = parser.parse_args()
    if unknown := set(options.parts) - set(known):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    main()
