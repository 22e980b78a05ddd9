"""Linear layers of four bits a weight: the kernel, how values are fitted, the layers."""
