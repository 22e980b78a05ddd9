"""The device's side of split inference: the ends of a model, weights, transports, terminal."""
