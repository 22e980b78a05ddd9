"""Test vectors that every implementation shares."""
