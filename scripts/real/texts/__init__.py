"""English that the model is measured on."""
