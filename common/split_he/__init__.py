"""CKKS for adapters, as the device and the adapter host share it: numpy and tenseal, no sockets."""
