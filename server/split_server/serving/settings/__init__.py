"""Settings that only some servers have, and what they require."""
