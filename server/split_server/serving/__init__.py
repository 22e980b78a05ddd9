"""Composition of the server: settings, parts, application, process."""
