"""Reading vocabulary files; what goes wrong is a `VocabularyError` that names the file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from structag.errors import VocabularyError

FilePath = str | os.PathLike[str]


def damaged(
    path: FilePath, problem: str, *, expected: str, hint: str | None = None
) -> VocabularyError:
    """The error for a file that exists and does not hold what it should."""
    return VocabularyError(
        f"`{Path(path).name}` {problem}", code="vocabulary-file", expected=expected, hint=hint
    )


def read_file(path: FilePath, *, expected: str) -> bytes:
    """The file's bytes; `expected` says what kind of file it should have been.

    Raises:
        VocabularyError: there is no such file, or it cannot be read (``vocabulary-file``).
    """
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise VocabularyError(
            f"cannot read `{os.fspath(path)}`: {reason}",
            code="vocabulary-file",
            expected=expected,
            hint="pass the path of a local file; nothing is downloaded",
        ) from None


def read_json_object(path: FilePath, *, expected: str) -> dict[str, Any]:
    """The JSON object in the file.

    Raises:
        VocabularyError: it cannot be read, or holds something else (``vocabulary-file``).
    """
    data = read_file(path, expected=expected)
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise damaged(path, f"is not JSON at {place}", expected=expected) from None
    except UnicodeDecodeError:
        raise damaged(path, "is not UTF-8", expected=expected) from None
    except (ValueError, RecursionError):
        raise damaged(
            path, "holds a number too long or nests too deep", expected=expected
        ) from None
    if not isinstance(value, dict):
        raise damaged(path, "holds no JSON object", expected=expected)
    return value
