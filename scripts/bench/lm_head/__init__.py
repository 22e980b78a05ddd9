"""The device's LM heads."""
