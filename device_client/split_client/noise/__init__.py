"""Noised mode: rows leave the device with noise whose privacy is stated, counted and bounded."""
