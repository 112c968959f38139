"""What providers and engines accept of JSON Schema.

`known` has it as data, `lint` compares a schema with it, and `fix` rewrites a schema to it: `merge`
makes one schema of two, `voices` tells whether several speak of one value, `patterns` what a
regular expression makes use of, and `subschemas` walks a schema.
"""
