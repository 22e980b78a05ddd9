"""The products of an encrypted adapter."""
