"""Values back in place of surrogates, in text that a person sees and nowhere else."""
