"""The models of one server: which there are, and the wait for one that it loads."""
