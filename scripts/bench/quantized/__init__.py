"""What `--quantize` costs a trained model, and where that comes from."""
