"""Make the embedded demo model: ``python scripts/train_demo_model.py --help``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.demo_model.cli import main

if __name__ == "__main__":
    sys.exit(main())
