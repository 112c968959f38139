"""The one door for grammar texts: EBNF, GBNF or Lark → the unified grammar, and back."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from structag.errors import FormatError, StructagError
from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Grammar, Ref
from structag.grammar.transplant import extend
from structag.grammar.write import Writer
from structag.limits import Limits
from structag.source import Source, without_mark
from structag.text.lower_rules import Lowered, lower_rules
from structag.text.rules import JsonSchema, RuleGrammar, TokenIds

SYNTAXES = ("ebnf", "gbnf", "lark")


def read_grammar_text(
    text: str,
    syntax: str,
    *,
    limits: Limits | None = None,
    token_ids: TokenIds | None = None,
    json_schema: JsonSchema | None = None,
    name: str = "<text>",
    root: str | None = None,
    origins: bool = False,
) -> Lowered:
    """The grammar of a text, and warnings about what it probably did not mean.

    Args:
        text: the grammar text.
        syntax: one of `SYNTAXES`.
        limits: see `Limits`.
        token_ids: finds the ids of tokens that the text names (`<think>`).
        json_schema: lowers the schemas that a Lark text holds (`%json`).
        name: what messages call the text: a file's name, say.
        root: the rule to start with, if not ``root`` (in Lark ``start``).
        origins: mark everything with the name of its rule.

    Raises:
        GrammarSyntaxError: `grammar-syntax`; GrammarError: `grammar-undefined`, `grammar-empty`,
            `grammar-operand`; UnsupportedError: `grammar-feature`.  Each has a span, and draws it.
        VocabularyError: `vocabulary-value`, a named token that does not exist.
        LimitError: the text is too large, or nested too deeply.
    """
    if syntax not in SYNTAXES:
        raise _unknown(syntax, ", ".join(SYNTAXES))
    source = Source(without_mark(text), name)
    limits = limits or Limits()
    parse: Callable[..., RuleGrammar] = getattr(
        import_module(f"structag.text.{syntax}"), f"parse_{syntax}"
    )
    options: dict[str, object] = {"json_schema": json_schema} if syntax == "lark" else {}
    if root is not None:
        options["root"] = root
    try:
        return lower_rules(parse(source, limits, **options), limits, token_ids, origins=origins)
    except StructagError as error:
        source.place(error)
        raise


def lower_grammar_text(
    text: str,
    syntax: str,
    builder: GrammarBuilder,
    *,
    limits: Limits | None = None,
    token_ids: TokenIds | None = None,
    json_schema: JsonSchema | None = None,
) -> Ref:
    """The expression of a grammar text in `builder`; see `read_grammar_text`."""
    lowered = read_grammar_text(
        text,
        syntax,
        limits=limits,
        token_ids=token_ids,
        json_schema=json_schema,
        origins=builder.origins,
    )
    return extend(builder, lowered.grammar)


def write_grammar_text(grammar: Grammar, syntax: str, *, plain_markers: bool = False) -> str:
    """`grammar` as a text that a front end reads back to the same language.

    Regular operators are written out as rules; otherwise the structure stays, too.

    Args:
        grammar: the grammar to write.
        syntax: ``ebnf``, ``gbnf``, ``lark`` or ``regex``.
        plain_markers: write markers as the strings they are, which control tokens then do not
            spell any more; without it a marker is refused.

    Raises:
        UnsupportedError: `notation`, the notation has no words for a part of the grammar.
    """
    from structag.text.notation import Ebnf, Gbnf, cannot_write
    from structag.text.notation_lark import LarkNotation
    from structag.text.write_out import write_out
    from structag.text.write_regex import write_regex

    if syntax == "regex":
        plain = write_out(
            grammar,
            lambda node: cannot_write(node, "a regular expression"),
            searches=True,
            recursive=False,
        )
        return write_regex(plain, plain_markers)
    notations = {"ebnf": Ebnf, "gbnf": Gbnf, "lark": LarkNotation}
    if syntax not in notations:
        raise _unknown(syntax, ", ".join([*notations, "regex"]))
    words = notations[syntax]
    grammar = write_out(
        grammar, lambda node: cannot_write(node, words.syntax), searches=not words.has_macros
    )
    return Writer(grammar, words(grammar, plain_markers)).write() + "\n"


def _unknown(syntax: str, known: str) -> FormatError:
    return FormatError(f"a notation {syntax!r}", code="source-kind", expected=f"one of {known}")
