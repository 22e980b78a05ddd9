"""Write device_client/split_client/redaction/data/phones.json and names.json.

    pip install names faker phonenumbers
    python -m scripts.redaction_data.run

Phones: general descriptions of national numbers in libphonenumber's metadata (Apache-2.0), as the
package ``phonenumbers`` has them. Names: those of the census of the United States of 1990 (a work
of its government, in the public domain, as the package ``names`` has them) and of Faker (MIT).
"""

from __future__ import annotations

import json
from typing import Any

from scripts.paths import ROOT
from scripts.redaction_data import names, phones

FOLDER = ROOT / "device_client" / "split_client" / "redaction" / "data"


def main() -> None:
    for name, made in (("phones", phones.build()), ("names", names.build())):
        path = FOLDER / f"{name}.json"
        path.write_text(_render(made), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


def _render(made: dict[str, Any]) -> str:
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
