"""Differential privacy with Gaussian noise: calibration, accounting, keyed noise. numpy only."""
