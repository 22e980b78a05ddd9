"""Rows and priors together: texts that rows leave possible, weighed by what says how people write.

A text's weight is the likelihood of its rows times its prior. Of all texts that begin alike enough
for the prior only one is followed further (Viterbi 1967), and the share of all weight that runs
through a token is its probability (Baum et al. 1970), which is what recovers the most tokens.
"""
