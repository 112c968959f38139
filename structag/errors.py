"""The error tree: a refusal is a typed error that says where, what was expected, how to mend it.

A rejected token or text is not an error (`Matcher.accept_token` returns ``False``); an error
means that an input, a limit or a call was wrong.  `CODES` is the complete list of codes; each has
one row in ``docs/errors.md`` and at least one test.
"""

from __future__ import annotations

from typing import Any

CODES: dict[str, str] = {
    # reading a document
    "json-syntax": "The text is not JSON (RFC 8259).",
    "text-encoding": "The text is not valid UTF-8, or holds a lone surrogate.",
    "nesting-limit": "The document is nested deeper than `Limits.max_nesting`.",
    # structural tags
    "tag-type": "The `type` of a format is missing or unknown.",
    "tag-field": "A format has a field it must not have, or lacks one it needs.",
    "tag-value": "A field of a format has a value of the wrong kind or out of range.",
    "trigger-unreachable": "A trigger can never be the first to complete.",
    "trigger-mismatch": "A tag's `begin` starts with no trigger, or with several.",
    "exclude-conflict": "An excluded text occurs inside a begin marker or trigger.",
    "no-way-out": "Free text has no end marker although something must follow it.",
    "token-unknown": "A format names a token that the vocabulary does not have.",
    # formats of model families
    "family-unknown": "There is no model format of that name.",
    "family-value": "A model family lacks a field, or has one of the wrong kind.",
    "tool-value": "A tool or a `tool_choice` has a shape that is not known, or names no tool.",
    "reasoning-conflict": "`reasoning` contradicts the end of the prompt, or the family.",
    # JSON Schema
    "schema-value": "A keyword of a schema has a value that the standard does not allow.",
    "schema-reference": "A `$ref` does not resolve, or only refers to itself.",
    "schema-unsatisfiable": "No value satisfies the schema.",
    "schema-keyword": "The keyword is valid, but not supported here.",
    # regular expressions and grammar texts
    "regex-syntax": "The pattern is not a regular expression (ECMA-262).",
    "regex-feature": "The pattern uses a feature that is not supported, or that no automaton has.",
    "grammar-syntax": "The grammar text does not parse, or defines a rule twice.",
    "grammar-feature": "The grammar text is valid, but uses something that is not supported here.",
    "notation": "The notation that a grammar is to be written in has no words for a part of it.",
    # the grammar
    "grammar-undefined": "A rule is used but never defined.",
    "grammar-empty": "The grammar derives no string at all.",
    "sample-length": "No output is as short as it was asked to be.",
    "grammar-operand": "An expression is used where the grammar does not allow it.",
    # compiling and matching
    "limit": "A named limit was reached.",
    "deadline": "A deadline passed, or what was running was stopped.",
    "vocabulary-kind": "The tokenizer is of a kind that cannot be turned into token bytes.",
    "vocabulary-file": "A vocabulary file is missing, damaged or of another format.",
    "vocabulary-value": "A token id, byte string or size is out of range.",
    "vocabulary-spelling": "The grammar needs a byte that the vocabulary cannot spell at all.",
    "matcher-state": "A matcher was asked for something its state does not allow.",
    "matcher-busy": "A matcher was called while another call of it was under way.",
    "reentrant-call": "A signal handler started a call in the midst of another one.",
    "batch": "The matchers, rows and numbers of a batch do not fit together.",
    "draft-tree": "The arrays of a draft tree make no tree.",
    "bitmask-shape": "A bitmask or logits array has the wrong shape, type, device or layout.",
    "artefact-file": "A saved grammar is missing, damaged, or of another version.",
    "artefact-vocabulary": "A saved grammar belongs to another vocabulary.",
    "source-kind": "The compiler cannot tell what kind of source it was given.",
}


class StructagError(Exception):
    """Root of all errors raised on purpose.

    Attributes:
        code: stable identifier, a key of `CODES`.
        pointer: JSON Pointer (RFC 6901, ``""`` = the whole document) of the place, or ``None``.
        span: ``(start, end)`` in characters of the source text, or ``None``.
        expected: what would have been right here, or ``None``.
        hint: one way to mend it, or ``None``.
        excerpt: name, line and column of the place, its line, a caret; for grammar texts.
    """

    excerpt: str | None = None

    def __init__(
        self,
        message: str,
        *,
        code: str,
        pointer: str | None = None,
        span: tuple[int, int] | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        if code not in CODES:
            raise AssertionError(f"unknown error code {code!r}")
        super().__init__(message)
        self.message = message
        self.code = code
        self.pointer = pointer
        self.span = span
        self.expected = expected
        self.hint = hint

    def __str__(self) -> str:
        place = ""
        if self.pointer is not None:
            place = f" - at `{self.pointer or '(root)'}`"
        elif self.span is not None and self.excerpt is None:
            place = f" - at character {self.span[0]}"
        expected = f", expected {self.expected}" if self.expected else ""
        hint = f"; {self.hint}" if self.hint else ""
        excerpt = f"\n{self.excerpt}" if self.excerpt else ""
        return f"{self.message}{expected}{place}{hint}{excerpt}"

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are rebuilt from their positional arguments alone; ours are keywords.
        return _restore, (type(self), self.args, self.__dict__.copy())

    def to_json(self) -> dict[str, Any]:
        """The error as plain data, for ``--json`` and for servers."""
        return {
            "code": self.code,
            "message": self.message,
            "pointer": self.pointer,
            "span": list(self.span) if self.span is not None else None,
            "expected": self.expected,
            "hint": self.hint,
        }

    def at(self, prefix: str) -> StructagError:
        """The same error with `prefix` put before its pointer; for a document inside a document."""
        self.pointer = prefix + (self.pointer or "")
        return self


class FormatError(StructagError, ValueError):
    """A structural tag, or another source document, is not well formed."""


class SchemaError(StructagError, ValueError):
    """A JSON Schema is not a schema, does not resolve, or cannot be satisfied."""


class GrammarSyntaxError(StructagError, ValueError):
    """A regular expression or a grammar text does not parse; `span` is set."""


class GrammarError(StructagError, ValueError):
    """A grammar is not usable: undefined rule, empty language, operand of the wrong kind."""


class UnsupportedError(StructagError, ValueError):
    """The source is valid, but uses something that is refused here; never dropped in silence."""


class LimitError(StructagError, ValueError):
    """A named limit was reached; what was running has been undone.

    Attributes:
        limit: what is limited, in words.
        value: the limit's value.
        setting: the field of `structag.Limits` that raises it; `None` if nothing does.
    """

    def __init__(
        self,
        message: str,
        *,
        limit: str,
        value: int,
        setting: str | None,
        code: str = "limit",
        pointer: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(
            message,
            code=code,
            pointer=pointer,
            span=span,
            hint=setting and f"raise `Limits.{setting}` (now {value:,}) if the input is trusted",
        )
        self.limit = limit
        self.value = value
        self.setting = setting


def nesting_error(
    message: str,
    most: int,
    *,
    pointer: str | None = None,
    span: tuple[int, int] | None = None,
) -> LimitError:
    """The error for what is nested deeper than `Limits.max_nesting`, which is `most`."""
    return LimitError(
        message,
        limit="nesting",
        value=most,
        setting="max_nesting",
        code="nesting-limit",
        pointer=pointer,
        span=span,
    )


class DeadlineError(StructagError, TimeoutError):
    """A `Deadline` passed, or was stopped; what was running is undone, and may be tried again.

    Unlike a limit, it depends on the machine: never keep it as the answer to a source.
    """


class VocabularyError(StructagError, ValueError):
    """A vocabulary cannot be built, or does not fit what it is used with."""


class MatcherError(StructagError, RuntimeError):
    """A matcher or bitmask was used in a way its state or shape does not allow."""


def _restore(
    kind: type[StructagError], args: tuple[Any, ...], state: dict[str, Any]
) -> StructagError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error
