"""One decode step of the runner, without a server."""
