"""Several replicas behind the balancers that are shipped for them."""
