"""Several models in one process: steps of one while another idles, computes, comes and goes."""
