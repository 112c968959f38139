"""Output formats of model families: one small file each, mostly data."""
