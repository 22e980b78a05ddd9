"""Makes the embedded demo model: corpus, tokenizer, training, evaluation, banking adapter.

Everything is generated from the text files in ``corpus/text/`` and a seed; nothing is downloaded.
"""
