"""Fields of other servers' references that change nothing here, or only at some of their values."""
