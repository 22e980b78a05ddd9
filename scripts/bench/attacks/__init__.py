"""Attacks on a running server, one module each; ``run`` runs them."""
