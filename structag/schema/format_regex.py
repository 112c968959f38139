"""The pattern of regular expressions: those of ECMA-262 that both of its modes read alike.

Patterns nest, so that no regular expression describes all of them: groups are nested up to
`MAX_GROUPS` deep here, and look-ahead holds none.  Left out as well: look-behind, references, named
groups, properties, code point escapes, and what only the lenient mode takes (``{`` for itself).
"""

from __future__ import annotations

import string

MAX_GROUPS = 4
_ALPHABETS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)


def regex_pattern() -> str:
    """The patterns."""
    shared = r"[dDwWsStnvfr^$\\.*+?()[\]{}|/]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}"
    one_digit = "|".join(f"{low},[{low}-9]" for low in range(10))
    two_digits = "|".join(rf"{tens}\d,[{tens + 1}-9]\d" for tens in range(9))
    longer = r"\d{1,2},[1-9]\d{2}|\d,[1-9]\d"
    counts = rf"\d{{1,4}},?|{one_digit}|{two_digits}|{longer}"
    quantifier = rf"(?:(?:[*+?]|\{{(?:{counts})\}})\??)?"
    ranges = "|".join(f"{low}-[{low}-{abc[-1]}]" for abc in _ALPHABETS for low in abc)
    member = rf"(?:[^\\\]\-]|\\(?:{shared}|[b\-])|{ranges})"
    chars = rf"\[\^?(?:-?{member}+-?|-)\]"
    atom = rf"(?:[^\\^$*+?()[\]{{}}|]|\\(?:{shared})|{chars}){quantifier}"
    plain = rf"(?:{atom}|[\^$|]|\\[bB])"
    inner = f"{plain}*"
    for _ in range(MAX_GROUPS):
        inner = rf"(?:{plain}|\((?:\?:)?{inner}\){quantifier}|\(\?[=!]{plain}*\))*"
    return inner
