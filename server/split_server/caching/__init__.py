"""``split-server cache``: what a running server keeps for later sessions, asked of it over HTTP."""
