"""Adapters as a device sees them: what there is, and which one a message asks for."""
