"""The engines that compute the middle of a model, composed from settings."""
