"""Free text and runs of tokens, and how both end: the parts of a format that say next to nothing.

A *text* is searched for what it may not hold: excludes, the ends that may follow, and the texts of
end tokens (a control token has none, it is never text).  A *run* is made of whole tokens other than
the excluded ones and the end tokens.  Where a run has to stop at a text, it is looked at as text
too: a run without that text, in which control tokens may stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from structag.grammar.builder import GrammarBuilder
from structag.grammar.expressions import Ref
from structag.tags.following import Part
from structag.tags.model import Marker, TokenFormat, TokenRef
from structag.tags.tokens import TokenNames


class Regions:
    """Makes regions in one builder, for one vocabulary."""

    def __init__(self, builder: GrammarBuilder, names: TokenNames) -> None:
        self._builder = builder
        self._names = names

    def marker(self, marker: Marker, pointer: str) -> Ref:
        """A begin, an end or a constant: a text that control tokens may spell, or a token."""
        if isinstance(marker, TokenFormat):
            return self._builder.tokens([self._names.resolve(marker.token, pointer)])
        return self._builder.literal(marker.encode(), marker=True)

    def text(
        self,
        part: Part,
        excludes: Iterable[str],
        max_chars: int | None = None,
        max_tokens: int | None = None,
    ) -> Ref:
        """Text without `excludes` and without what may end the part."""
        builder = self._builder
        ref = builder.no_occurrence([*_encode(excludes), *self._end_texts(part)])
        if max_chars is not None:
            ref = builder.both(ref, builder.repeat(builder.any_char, 0, max_chars))
        return ref if max_tokens is None else builder.budget(ref, max_tokens)

    def scan(
        self, part: Part, cases: Mapping[str | int, Sequence[Ref]], excludes: Iterable[str]
    ) -> Ref:
        """Text up to a trigger, then one of its cases; every trigger stops the text."""
        if not any(cases.values()):
            return self._builder.empty
        pairs = [(str(t).encode(), self._builder.alt(*refs)) for t, refs in cases.items()]
        return self._builder.scan(pairs, [*_encode(excludes), *self._end_texts(part)])

    def token(self, part: Part, excludes: Iterable[TokenRef]) -> Ref:
        """One token that is neither excluded nor an end."""
        return self._builder.tokens(self._banned(part, excludes), negated=True)

    def run(self, part: Part, excludes: Iterable[TokenRef], max_tokens: int | None = None) -> Ref:
        """Tokens that are neither excluded nor an end."""
        builder = self._builder
        banned = self._banned(part, excludes)
        texts = _encode(part.following.texts)
        if texts:
            texts += [text for token in banned if (text := self._names.text(token, part.pointer))]
            piece = builder.no_occurrence(texts)
            control = builder.tokens(set(self._names.inner_control_ids) - set(banned))
            ref = builder.seq(piece, builder.repeat(builder.seq(control, piece), 0))
        else:
            ref = builder.repeat(builder.tokens(banned, negated=True), 0)
        return ref if max_tokens is None else builder.budget(ref, max_tokens)

    def _banned(self, part: Part, excludes: Iterable[TokenRef]) -> tuple[int, ...]:
        tokens = [*excludes, *(end.token for end in part.following.tokens)]
        return tuple(self._names.resolve(token, part.pointer) for token in tokens)

    def _end_texts(self, part: Part) -> list[bytes]:
        tokens = [self._names.resolve(end.token, part.pointer) for end in part.following.tokens]
        texts = [self._names.text(token, part.pointer) for token in tokens]
        return [*_encode(part.following.texts), *filter(None, texts)]


def _encode(texts: Iterable[str]) -> list[bytes]:
    return [text.encode() for text in texts]
