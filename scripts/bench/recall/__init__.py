"""Facts that are stated early in a chat and asked for once half of it is left out."""
