"""The ``structag`` command: one file per command, built on structag's public names."""
