"""Source → `CompiledGrammar`: lowers it, and keeps what was compiled.

Compiling only lowers and interns; automata and masks appear when a matcher needs them.  Equal
sources compiled again come from a cache, which counts bytes and forgets the least recently used;
equal sources asked for at once are compiled once.  A `Compiler` may be used by any number of
threads.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from structag.cache import Cache
from structag.compiled import CompiledGrammar, bind_grammar
from structag.deadline import Deadline, UnderWay
from structag.errors import (
    DeadlineError,
    FormatError,
    GrammarError,
    GrammarSyntaxError,
    VocabularyError,
)
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Ref
from structag.grammar.fragments import Fragment, Note
from structag.grammar.transplant import extend
from structag.limits import Limits
from structag.source import read_json, source_key
from structag.vocabulary import TokenKind, Vocabulary

if TYPE_CHECKING:
    from structag.tags.model import StructuralTag
    from structag.tags.parse import KnownTag
    from structag.text.lower_rules import Lowered

_RULE = re.compile(r"^[ \t]*[\w.-]+[ \t]*(?:\[[^\]\n]*\][ \t]*)?::=", re.MULTILINE)
_LARK_START = re.compile(r"^[?!]{0,2}start[ \t]*(?:\.[ \t]*-?\d+[ \t]*)?:(?!:=)", re.MULTILINE)
Lower = Callable[[GrammarBuilder], Ref]
Key = tuple[str | bytes, ...]
_FRAGMENT_SHARE = 4  # of the cache's bytes, one part is for fragments


class Counters(NamedTuple):
    """What a `Compiler` did so far, for the metrics of an engine.

    Attributes:
        compiles: sources compiled to the end.
        failures: sources refused, or stopped by a deadline.
        hits: answers out of the cache.
        joins: requests that waited for an equal one.
        memory_bytes: what the caches hold.
        fills: mask rows filled, by all matchers under the compiler's vocabulary.
        slow_fills: those among them whose mask had to be found out.
    """

    compiles: int
    failures: int
    hits: int
    joins: int
    memory_bytes: int
    fills: int
    slow_fills: int


class CompileFuture(Future["CompiledGrammar"]):
    """The result of a `compile_…_async` call."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def cancel(self) -> bool:
        """Take the request back; False if it is done.  What is running for it stops soon."""
        was_cancelled = super().cancel()
        if was_cancelled:
            self._deadline.stop()
        return was_cancelled


class Compiler:
    """Compiles sources for one vocabulary.

    Each `compile_…` has a twin `compile_…_async`, which runs on the compiler's threads.  Its future
    can be cancelled until it is done; with a `deadline`, in seconds from the call, it ends in a
    `DeadlineError` if it takes longer.

    Args:
        vocabulary: whose tokens the masks are about.
        threads: how many `compile_…_async` calls run at once.
        cache_bytes: how much the caches may hold: compiled grammars, and, with a quarter of it,
            the parts that sources have in common; 0 turns them off.  See `memory_bytes`.
        limits: see `Limits`.
        origins: keep where each part of a grammar comes from, so that `Matcher.expectations` can
            say where it stands.  Matches the same, but slower: for `structag.explain`.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        threads: int = 4,
        cache_bytes: int = 64 * 1024 * 1024,
        limits: Limits | None = None,
        origins: bool = False,
    ) -> None:
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(f"a Compiler is for a Vocabulary, not {type(vocabulary).__name__}")
        if threads < 1 or cache_bytes < 0:
            raise ValueError(f"{threads=}, {cache_bytes=}, expected 1 or more, 0 or more")
        self.vocabulary = vocabulary
        self.limits = limits or Limits()
        self.origins = origins
        self._threads = threads
        fragment_bytes = cache_bytes // _FRAGMENT_SHARE
        self._cache: Cache[CompiledGrammar] = Cache(
            cache_bytes - fragment_bytes, lambda compiled: compiled.memory_bytes
        )
        self._fragments: Cache[Fragment] = Cache(
            fragment_bytes // 2, lambda fragment: fragment.memory_bytes, grows=False
        )
        self._tags: Cache[KnownTag] = Cache(
            fragment_bytes // 2, lambda known: known.memory_bytes, grows=False
        )
        self._lock = threading.Lock()  # of what follows
        self._under_way: dict[Hashable, UnderWay[CompiledGrammar]] = {}
        self._compiles = self._failures = self._hits = self._joins = 0
        self._executor: ThreadPoolExecutor | None = None
        self._executor_process = 0

    def compile_structural_tag(self, tag: StructuralTag | dict[str, Any] | str) -> CompiledGrammar:
        """Compile a structural tag: JSON text, Python value or model.

        Raises:
            FormatError, SchemaError, GrammarSyntaxError, UnsupportedError: the tag, or what is
                inside it, is refused; `pointer` says where.
            GrammarError: `grammar-empty`, no output can match; `pointer` is the format's.
            LimitError: a limit was reached.
        """
        from structag.tags.lower import lower_document

        key = source_key("tag", tag, {}, self.limits)
        try:
            return self._compile(
                key, lambda b: lower_document(tag, b, self.vocabulary, self.limits, self._tags)
            )
        except GrammarError as error:
            if error.code == "grammar-empty" and error.pointer is None:
                from structag.tags.emptiness import find_empty_format

                error.pointer = find_empty_format(tag, self.vocabulary, self.limits, self._is_empty)
            raise

    def compile_json_schema(self, schema: Any, **options: Any) -> CompiledGrammar:
        """Compile a JSON Schema: JSON text, Python value, bool, pydantic model or TypeAdapter.

        Args:
            schema: the schema; the draft is taken from `$schema`, 2020-12 when absent.
            options: fields of `structag.schema.options.SchemaOptions`.

        Raises:
            SchemaError, UnsupportedError: with the JSON pointer of the keyword.
        """
        lower = _schema_lowering()
        key = source_key("schema", schema, options, self.limits)
        try:
            return self._compile(key, lambda b: lower(schema, b, options, self.limits))
        except GrammarError as error:
            from structag.schema.lower import of_schema

            raise of_schema(error) from None

    def compile_regex(self, pattern: str) -> CompiledGrammar:
        """Compile an ECMA-262 regular expression; the whole output must match.

        Raises:
            GrammarSyntaxError, UnsupportedError: with the span in `pattern`, and the line drawn.
            FormatError: `source-kind`, `pattern` is no str.
        """
        from structag.text.regex import lower_regex

        _check_text(pattern, "a pattern")
        return self._compile(
            ("regex", pattern), lambda b: lower_regex(pattern, b, limits=self.limits)
        )

    def compile_ebnf(self, text: str, *, root: str = "root") -> CompiledGrammar:
        """Compile a grammar in EBNF, as docs/grammars.md describes it; it starts at `root`.

        Raises:
            GrammarSyntaxError, GrammarError, UnsupportedError: with the span, and the line drawn.
            VocabularyError: `vocabulary-value`, a token that the text names does not exist.
            FormatError: `source-kind`, `text` or `root` is no str.
        """
        return self._compile_text(text, "ebnf", root)

    def compile_gbnf(self, text: str, *, root: str = "root") -> CompiledGrammar:
        """Compile a grammar in GBNF (llama.cpp).  Starts and raises like `compile_ebnf`."""
        return self._compile_text(text, "gbnf", root)

    def compile_lark(self, text: str, *, root: str = "start") -> CompiledGrammar:
        """Compile a grammar in Lark's notation; it starts at `root`, and has no lexer.

        Raises like `compile_ebnf`, and what `compile_json_schema` raises for a `%json`.
        """
        return self._compile_text(text, "lark", root)

    def compile_grammar(self, grammar: Grammar) -> CompiledGrammar:
        """Compile a unified grammar, made with `GrammarBuilder`; not cached.

        Raises:
            GrammarError: `grammar-empty`, or an expression where it may not be.
        """
        return self._count(lambda: self._build(grammar))

    def compile(self, source: Any) -> CompiledGrammar:
        """Compile any source whose kind shows: a `Grammar`, a structural tag, a schema or a model,
        or a grammar text: with rules `name ::= …` EBNF, or else GBNF; with `start: …` Lark.

        Raises:
            FormatError: `source-kind`, if it does not show.
        """
        if isinstance(source, Grammar):
            return self.compile_grammar(source)
        value = source
        if isinstance(source, str):
            shown = source.removeprefix("\ufeff")
            if _RULE.search(shown):
                return self._compile_rules(source)
            if _LARK_START.search(shown):
                return self.compile_lark(source)
            value = read_json(source, self.limits)
        kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
        if kind == "structural_tag":
            return self.compile_structural_tag(source)
        if isinstance(value, (dict, bool)) or hasattr(value, "model_json_schema"):
            return self.compile_json_schema(source)
        raise FormatError(
            f"a source of type {type(source).__name__} whose kind does not show",
            code="source-kind",
            expected="a structural tag, a JSON Schema, a model, EBNF, GBNF, Lark or a Grammar",
            hint="call compile_regex, compile_json_schema, … by name",
        )

    def compile_structural_tag_async(
        self, tag: StructuralTag | dict[str, Any] | str, *, deadline: float | None = None
    ) -> Future[CompiledGrammar]:
        """`compile_structural_tag` on the compiler's threads."""
        return self._submit(deadline, self.compile_structural_tag, tag)

    def compile_json_schema_async(
        self, schema: Any, *, deadline: float | None = None, **options: Any
    ) -> Future[CompiledGrammar]:
        """`compile_json_schema` on the compiler's threads."""
        return self._submit(deadline, self.compile_json_schema, schema, **options)

    def compile_regex_async(
        self, pattern: str, *, deadline: float | None = None
    ) -> Future[CompiledGrammar]:
        """`compile_regex` on the compiler's threads."""
        return self._submit(deadline, self.compile_regex, pattern)

    def compile_ebnf_async(
        self, text: str, *, root: str = "root", deadline: float | None = None
    ) -> Future[CompiledGrammar]:
        """`compile_ebnf` on the compiler's threads."""
        return self._submit(deadline, self.compile_ebnf, text, root=root)

    def compile_gbnf_async(
        self, text: str, *, root: str = "root", deadline: float | None = None
    ) -> Future[CompiledGrammar]:
        """`compile_gbnf` on the compiler's threads."""
        return self._submit(deadline, self.compile_gbnf, text, root=root)

    def compile_lark_async(
        self, text: str, *, root: str = "start", deadline: float | None = None
    ) -> Future[CompiledGrammar]:
        """`compile_lark` on the compiler's threads."""
        return self._submit(deadline, self.compile_lark, text, root=root)

    def compile_grammar_async(
        self, grammar: Grammar, *, deadline: float | None = None
    ) -> Future[CompiledGrammar]:
        """`compile_grammar` on the compiler's threads."""
        return self._submit(deadline, self.compile_grammar, grammar)

    def compile_async(
        self, source: Any, *, deadline: float | None = None
    ) -> Future[CompiledGrammar]:
        """`compile` on the compiler's threads."""
        return self._submit(deadline, self.compile, source)

    @property
    def counters(self) -> Counters:
        """What was done so far; see `Counters`."""
        fills, slow_fills = self.vocabulary.native.fill_counts()
        with self._lock:
            done = (self._compiles, self._failures, self._hits, self._joins)
        return Counters(*done, self.memory_bytes, fills, slow_fills)

    @property
    def memory_bytes(self) -> int:
        """Bytes that the caches hold, as they were when last measured."""
        return sum(c.memory_bytes for c in (self._cache, self._fragments, self._tags))

    def clear_cache(self) -> None:
        """Forget every compiled grammar; those in use live on with their users."""
        self._cache.clear()
        self._fragments.clear()
        self._tags.clear()

    def _compile_rules(self, text: str) -> CompiledGrammar:
        try:
            return self.compile_ebnf(text)
        except (GrammarSyntaxError, GrammarError) as error:
            try:
                return self.compile_gbnf(text)
            except (GrammarSyntaxError, GrammarError):
                raise error from None

    def _compile_text(self, text: str, syntax: str, root: str) -> CompiledGrammar:
        from structag.text.grammar_text import read_grammar_text

        _check_text(text, "a grammar text")
        _check_text(root, "the name of a rule")
        read: list[Lowered] = []
        notes: list[Note] = []

        def lower_json(builder: GrammarBuilder, schema: str) -> int:
            ref = _schema_lowering()(schema, builder, {}, self.limits)
            notes.extend(builder.notes)
            builder.notes.clear()
            return ref

        def lower(builder: GrammarBuilder) -> int:
            read.append(
                read_grammar_text(
                    text,
                    syntax,
                    limits=self.limits,
                    token_ids=self._token_id,
                    json_schema=lower_json,
                    root=root,
                    origins=self.origins,
                )
            )
            builder.notes.extend(notes)
            return extend(builder, read[0].grammar)

        def finish(compiled: CompiledGrammar) -> None:
            compiled.warnings = read[0].warnings

        return self._compile((syntax, text, root), lower, finish)

    def _token_id(self, token: int | str) -> int | None:
        vocabulary = self.vocabulary
        if isinstance(token, str):
            return vocabulary.token_id(token)
        is_used = token < vocabulary.size and vocabulary.token_kind(token) != TokenKind.UNUSED
        return token if is_used else None

    def _compile(
        self,
        key: Key | None,
        lower: Lower,
        finish: Callable[[CompiledGrammar], None] = lambda compiled: None,
    ) -> CompiledGrammar:
        def make() -> CompiledGrammar:
            builder = GrammarBuilder(self._fragments, origins=self.origins)
            compiled = self._build(builder.build(lower(builder)), builder.notes)
            compiled.parts = builder.parts
            finish(compiled)
            return compiled

        while key is not None:
            with self._lock:
                known = self._cache.get(key)
                other = self._under_way.get(key) if known is None else None
                self._hits += known is not None
                self._joins += other is not None
                if known is None and other is None:
                    mine = self._under_way[key] = UnderWay()
            if known is not None:
                return known
            if other is None:
                return self._compile_for_all(key, make, mine)
            compiled, error = other.wait()
            if compiled is not None:
                return compiled
            if isinstance(error, Exception) and not isinstance(error, DeadlineError):
                raise copy(error)
        return self._count(make)

    def _compile_for_all(
        self,
        key: Key,
        make: Callable[[], CompiledGrammar],
        mine: UnderWay[CompiledGrammar],
    ) -> CompiledGrammar:
        """Makes the grammar of `key`, and tells those who wait for it."""
        try:
            compiled = self._count(make)
            self._cache.put(key, compiled)
        except BaseException as error:
            with self._lock:
                del self._under_way[key]
            mine.finish(None, error)
            raise
        with self._lock:
            del self._under_way[key]
        mine.finish(compiled, None)
        return compiled

    def _count(self, make: Callable[[], CompiledGrammar]) -> CompiledGrammar:
        try:
            compiled = make()
        except BaseException:
            with self._lock:
                self._failures += 1
            raise
        with self._lock:
            self._compiles += 1
        return compiled

    def _build(self, grammar: Grammar, notes: Sequence[Note] = ()) -> CompiledGrammar:
        return bind_grammar(grammar, self.vocabulary, self.limits, notes, origins=self.origins)

    def _is_empty(self, grammar: Grammar) -> bool:
        try:
            self._build(grammar)
        except GrammarError as error:
            return error.code == "grammar-empty"
        except VocabularyError:
            return False
        return False

    def _submit(
        self,
        seconds: float | None,
        call: Callable[..., CompiledGrammar],
        *args: Any,
        **options: Any,
    ) -> Future[CompiledGrammar]:
        deadline = Deadline(seconds)
        future = CompileFuture(deadline)

        def run() -> None:
            if future.cancelled():
                return
            try:
                with deadline:
                    deadline.check()
                    compiled = call(*args, **options)
            except BaseException as error:
                if future.set_running_or_notify_cancel():
                    future.set_exception(error)
            else:
                if future.set_running_or_notify_cancel():
                    future.set_result(compiled)

        with self._lock:
            if self._executor is None or self._executor_process != os.getpid():  # servers fork
                self._executor = ThreadPoolExecutor(self._threads, "structag-compile")
                self._executor_process = os.getpid()
        self._executor.submit(run)
        return future


def _check_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        kind = type(value).__name__
        raise FormatError(f"{what} of type {kind}", code="source-kind", expected="a str")


@cache
def _schema_lowering() -> Callable[..., Ref]:
    """`lower_source`, imported once it is needed; to look it up each time would show."""
    from structag.schema.source import lower_source

    return lower_source
