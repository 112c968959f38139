"""A `CompiledGrammar` as bytes that can be kept, sent and loaded again: an *artefact*.

``write_artefact`` makes one, ``load`` reads it; `CompiledGrammar.save`, `to_bytes` and pickling go
through here.  An artefact is

    b"structag"  version (4 bytes)  checksum of the rest (16)  length of the head (4)  head  grammar

with little-endian numbers.  The head is JSON: the fingerprint of the vocabulary, `marker_tokens`,
whether origins are kept, the report's entries and the warnings.  The grammar is the unified one, as
core/grammar/grammar_bytes.h describes it; it is bound to the vocabulary anew, so that an artefact
can claim nothing that compiling would not find.  The checksum tells damage, not malice: every part
is checked as if somebody had written it by hand, and nothing in it is executed or sizes an
allocation.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from structag.compiled import CompiledGrammar, bind_grammar
from structag.errors import FormatError, LimitError, VocabularyError
from structag.grammar.expressions import Grammar
from structag.limits import Limits
from structag.source import read_json
from structag.vocabulary import Vocabulary

if TYPE_CHECKING:
    from structag.schema.report import Report

VERSION = 1
_MAGIC = b"structag"
_CHECKSUM_BYTES = 16
_HEAD_AT = len(_MAGIC) + 4 + _CHECKSUM_BYTES + 4


def write_artefact(compiled: CompiledGrammar) -> bytes:
    """`compiled` as an artefact."""
    import json

    head = json.dumps(
        {
            "vocabulary": compiled.vocabulary.fingerprint,
            "marker_tokens": list(compiled.grammar.marker_tokens),
            "origins": bool(compiled.labels),
            "report": [list(entry) for entry in compiled.report],
            "warnings": [[w.kind, w.message, *w.span] for w in compiled.warnings],
        }
    ).encode()
    rest = len(head).to_bytes(4, "little") + head + compiled.grammar.native.to_bytes()
    return _MAGIC + VERSION.to_bytes(4, "little") + _checksum(rest) + rest


def load(
    source: bytes | str | os.PathLike[str],
    vocabulary: Vocabulary,
    *,
    limits: Limits | None = None,
) -> CompiledGrammar:
    """Read what `CompiledGrammar.save` or `to_bytes` wrote, for the vocabulary it was saved with.

    Safe on files from anywhere; what comes out matches as if its source had been compiled here.
    Nothing is cached.

    Args:
        source: the bytes of an artefact, or the path of a file with them.
        vocabulary: must have the fingerprint of the one that the grammar was compiled for.
        limits: see `Limits`; `max_source_bytes` is for the whole artefact.

    Raises:
        FormatError: `artefact-file`, it is missing, damaged or of another version.
        VocabularyError: `artefact-vocabulary`, it was saved with another vocabulary.
        LimitError: a limit was reached.
        GrammarError: an expression stands where it may not.

    >>> from structag import Compiler, Matcher, Vocabulary
    >>> vocabulary = Vocabulary.byte_level()
    >>> data = Compiler(vocabulary).compile_regex("yes|no").to_bytes()
    >>> Matcher(load(data, vocabulary)).accept_string("no")
    True
    """
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"a grammar is loaded for a Vocabulary, not {type(vocabulary).__name__}")
    limits = limits or Limits()
    data = source if isinstance(source, bytes) else _read_file(Path(source), limits)
    if len(data) > limits.max_source_bytes:
        raise LimitError(
            f"a saved grammar of more than {limits.max_source_bytes:,} bytes",
            limit="source bytes",
            value=limits.max_source_bytes,
            setting="max_source_bytes",
        )
    if not data.startswith(_MAGIC):
        _refuse("this is no saved grammar", expected="what `CompiledGrammar.save` wrote")
    version = int.from_bytes(data[len(_MAGIC) : len(_MAGIC) + 4], "little")
    if len(data) < _HEAD_AT:
        _refuse("the file ends early")
    if version != VERSION:
        _refuse(f"a saved grammar of version {version}", expected=f"version {VERSION}")
    start = len(_MAGIC) + 4 + _CHECKSUM_BYTES
    if _checksum(data[start:]) != data[start - _CHECKSUM_BYTES : start]:
        _refuse("the file is damaged: its checksum is another")
    grammar_at = _HEAD_AT + int.from_bytes(data[start:_HEAD_AT], "little")
    if grammar_at > len(data):
        _refuse("the file ends early")
    head = _Head(read_json(data[_HEAD_AT:grammar_at], limits))
    if head.vocabulary != vocabulary.fingerprint:
        raise VocabularyError(
            f"the grammar was saved with another vocabulary, {head.vocabulary:.40}",
            code="artefact-vocabulary",
            expected=vocabulary.fingerprint,
            hint="load it with the vocabulary that it was compiled for, or compile it again",
        )
    grammar = Grammar.from_bytes(data[grammar_at:], limits.max_expressions, head.marker_tokens)
    compiled = bind_grammar(grammar, vocabulary, limits, report=head.report(), origins=head.origins)
    compiled.warnings = head.warnings()
    return compiled


class _Head:
    """The head of an artefact, its shape checked."""

    def __init__(self, value: Any) -> None:
        keys = {"vocabulary", "marker_tokens", "origins", "report", "warnings"}
        if not isinstance(value, dict) or set(value) != keys:
            _refuse("the head is not that of a saved grammar")
        self.vocabulary: str = _checked(value["vocabulary"], str)
        self.origins: bool = _checked(value["origins"], bool)
        names = [_checked(name, str) for name in _checked(value["marker_tokens"], list)]
        self.marker_tokens: tuple[str, ...] = tuple(names)
        self._entries = [_row(row, (str,) * 4) for row in _checked(value["report"], list)]
        rows = _checked(value["warnings"], list)
        self._warnings = [_row(row, (str, str, int, int)) for row in rows]

    def report(self) -> Report:
        from structag.schema.report import Entry, Report

        return Report.of_entries(Entry(*row) for row in self._entries)

    def warnings(self) -> tuple[Any, ...]:
        if not self._warnings:
            return ()
        from structag.text.rules import GrammarWarning

        return tuple(GrammarWarning(k, text, (low, high)) for k, text, low, high in self._warnings)


def _row(value: Any, kinds: tuple[type, ...]) -> list[Any]:
    row = _checked(value, list)
    if len(row) != len(kinds):
        _refuse("the head is not that of a saved grammar")
    return [_checked(item, kind) for item, kind in zip(row, kinds, strict=True)]


def _checked(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        _refuse("the head is not that of a saved grammar")
    return value


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECKSUM_BYTES, person=b"structag-artefac").digest()


def _read_file(path: Path, limits: Limits) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(limits.max_source_bytes + 1)
    except OSError as error:
        _refuse(f"`{path}` cannot be read: {error.strerror}")


def _refuse(message: str, expected: str | None = None) -> NoReturn:
    raise FormatError(
        message, code="artefact-file", expected=expected, hint="compile the source again"
    )
