"""Checkpoints whose matrices are four bits a value in groups, as AWQ and GPTQ write them."""
