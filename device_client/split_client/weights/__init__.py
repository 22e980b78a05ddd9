"""The device's part of a model on disk: manifest, store and download."""
