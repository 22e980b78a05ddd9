"""A server with little memory."""
