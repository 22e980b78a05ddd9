"""Language models as priors: the audited one, which its server has, and others at hand."""
