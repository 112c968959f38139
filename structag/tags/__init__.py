"""The Structural Tag language: nouns in `model`; verbs `parse`, `check`, `lower`, in that order."""
