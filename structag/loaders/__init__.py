"""Loaders: one module per tokenizer format, each turning it into a `TokenTable`.

`token_table` is the noun they share, `byte_alphabet`, `piece_decoder` and `files` are shared
steps, and the other modules each know one source.  `structag.Vocabulary` is the only caller; it
imports a loader when that loader is asked for.  No loader needs a tokenizer package: files are
parsed here, and tokenizer objects are only asked for their tables.
"""
