"""Whether the same seed gives the same reply, by dtype and by what is cached."""
