"""The causes for which a device does not reach its server, and how each is told from the others."""
