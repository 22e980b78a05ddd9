"""What `--quantize int8` costs a trained model, and where that comes from."""
