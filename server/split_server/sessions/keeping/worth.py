"""How much has to be known for keeping it, and looking for it, to pay."""

from split_server.kv.block_key import BLOCK

# Fewer rows are computed as fast as they are looked for.
WORTH_LOOKING = 2 * BLOCK
