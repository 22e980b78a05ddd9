"""From loading to gone: what a server answers meanwhile, and how it leaves."""
