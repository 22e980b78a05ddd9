"""The OpenAPI document of the compatible APIs."""
