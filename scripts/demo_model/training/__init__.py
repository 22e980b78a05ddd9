"""From the corpus to the files of the checkpoint and its adapter."""
