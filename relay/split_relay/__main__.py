"""``python -m split_relay``."""

import sys

from split_relay.cli import main

sys.exit(main())
