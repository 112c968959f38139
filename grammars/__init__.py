"""Grammar texts as data: the ones our front ends parse with, and ready-made ones to use."""
