"""What of a loaded model is tried out or measured before it is served."""
