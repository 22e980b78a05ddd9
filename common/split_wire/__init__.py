"""The wire of split inference: frames, tensors, messages and the protocol of one session. No sockets, no torch."""
