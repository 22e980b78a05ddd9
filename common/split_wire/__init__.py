"""The wire of split inference: frames, tensors, messages, the protocol of one session.

No sockets, no torch.
"""
