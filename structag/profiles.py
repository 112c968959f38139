"""Profiles of what providers and engines accept of JSON Schema; see `structag.providers`."""

from structag.providers.fix import Change, Fixed, fix_schema
from structag.providers.known import ERROR, PROFILES, WARNING, Profile
from structag.providers.lint import ASSERTING, Finding, lint_request, lint_schema, lint_slips

__all__ = [
    "ASSERTING",
    "ERROR",
    "PROFILES",
    "WARNING",
    "Change",
    "Finding",
    "Fixed",
    "Profile",
    "fix_schema",
    "lint_request",
    "lint_schema",
    "lint_slips",
]
