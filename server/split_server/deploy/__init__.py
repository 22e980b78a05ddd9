"""Hosts of the application beside ``split-server serve``, each with the package that it is for."""
