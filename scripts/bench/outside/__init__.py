"""An attack on noised rows by somebody who has not read the audit: own texts, priors and search."""
