"""A logits processor for ``generate`` of Hugging Face transformers; needs torch, imports no other.

The state of a row is what it has generated, so that nothing depends on the order of the rows: beam
search moves and copies rows between two calls, assisted generation takes tokens back.  Each call
looks up the matcher of every row by its tokens; a row that is new is the copy of one that is one
token shorter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import torch

from structag.bitmask import allocate_token_bitmask, apply_token_bitmask_inplace
from structag.compiled import CompiledGrammar
from structag.errors import MatcherError
from structag.matcher import Matcher

# Which grammar, and the tokens generated so far.
_Row: TypeAlias = tuple[int, tuple[int, ...]]


class LogitsProcessor:
    """Keeps what ``model.generate(…, logits_processor=[…])`` writes to a grammar.

    Works with greedy search, sampling, beam search, assisted generation, batches and several
    sequences for each prompt.  What the first call of a generation finds in ``input_ids`` is the
    prompt, padding included, and is not matched.

    May be used for one generation after another: a call whose rows do not go on from those of the
    call before starts a new one.  Where the next prompt is the last output and exactly one token
    more it looks as if it went on; call `reset` between the two.

    Args:
        grammars: one for all prompts, or a list with one for each prompt of the batch, in which
            None leaves a prompt's outputs free.
        stop_token_ids: replaces the vocabulary's stop tokens; give the model's ``eos_token_id``
            where they differ, since only that ends ``generate``.
        allows_strays: whether a row may hold a token that was disallowed, which is then left as it
            is.  Candidates of assisted generation (``prompt_lookup_num_tokens``) may, they are
            dropped again; otherwise such a token means that something else changed the scores.
    """

    def __init__(
        self,
        grammars: CompiledGrammar | Sequence[CompiledGrammar | None],
        *,
        stop_token_ids: Iterable[int] | None = None,
        allows_strays: bool = False,
    ) -> None:
        listed = [grammars] if isinstance(grammars, CompiledGrammar) else grammars
        self._grammars: list[CompiledGrammar | None] = list(listed)
        self._stop_token_ids = None if stop_token_ids is None else tuple(stop_token_ids)
        self._allows_strays = allows_strays
        self._bitmask: torch.Tensor | None = None
        self.reset()

    def reset(self) -> None:
        """Take the next call for the first one of a new generation."""
        self._prompts: torch.Tensor | None = None
        self._matchers: dict[_Row, Matcher | None] = {}  # None: free, or strayed

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The scores with minus infinity for every token that may not come next.

        Raises:
            MatcherError: `matcher-state` for a stray, or rows that cannot be shared out among the
                grammars.
            LimitError: as `Matcher.fill_next_token_bitmask`.
        """
        rows = self._read_rows(input_ids)
        self._matchers = {row: self._find_matcher(row) for row in dict.fromkeys(rows)}
        bitmask = self._bitmask_for(scores)
        constrained = []
        for index, row in enumerate(rows):
            matcher = self._matchers[row]
            if matcher is not None and matcher.fill_next_token_bitmask(bitmask, index):
                constrained.append(index)
        masked = scores.clone()  # ``output_logits`` keeps the tensor that was given
        return apply_token_bitmask_inplace(
            masked, bitmask.to(scores.device, non_blocking=True), constrained
        )

    def _read_rows(self, input_ids: torch.Tensor) -> list[_Row]:
        count = input_ids.shape[0]
        if count % len(self._grammars):
            raise MatcherError(
                f"{count} rows for {len(self._grammars)} grammars",
                code="matcher-state",
                expected="as many prompts as grammars",
            )
        rows = self._continued(input_ids)
        if rows is None:
            self.reset()
            self._prompts = input_ids.clone()
            rows = [(self._grammar_of(index, count), ()) for index in range(count)]
        return rows

    def _continued(self, input_ids: torch.Tensor) -> list[_Row] | None:
        """The rows, if they go on from those of the call before; None if a generation begins."""
        if self._prompts is None:
            return None
        count, length = self._prompts.shape
        is_longer = input_ids.shape[0] == count and input_ids.shape[1] > length
        if not is_longer or not torch.equal(input_ids[:, :length], self._prompts):
            return None
        tokens = input_ids[:, length:].tolist()
        rows = [(self._grammar_of(index, count), tuple(ids)) for index, ids in enumerate(tokens)]
        return rows if all(map(self._follows, rows)) else None

    def _follows(self, row: _Row) -> bool:
        """Whether the row without its last token was there at the call before, or was passed."""
        index, tokens = row
        start = tokens[:-1]
        return (index, start) in self._matchers or any(
            other == index and longer[: len(start)] == start for other, longer in self._matchers
        )

    def _grammar_of(self, row: int, count: int) -> int:
        return row * len(self._grammars) // count  # the rows of one prompt stand together

    def _find_matcher(self, row: _Row) -> Matcher | None:
        if row in self._matchers:
            return self._matchers[row]
        index, tokens = row
        grammar = self._grammars[index]
        if grammar is None:
            return None
        if (index, tokens[:-1]) in self._matchers:
            parent = self._matchers[index, tokens[:-1]]
            return None if parent is None else self._advance(parent.fork(), tokens[-1:])
        return self._advance(Matcher(grammar, self._stop_token_ids), tokens)

    def _advance(self, matcher: Matcher, tokens: tuple[int, ...]) -> Matcher | None:
        for token in tokens:
            if matcher.is_terminated():
                break  # padding
            if not matcher.accept_token(token):
                if self._allows_strays:
                    return None
                raise MatcherError(
                    f"token {token} was generated, which was disallowed",
                    code="matcher-state",
                    hint="let no other processor change the scores afterwards; "
                    "for assisted generation set `allows_strays`",
                )
        return matcher

    def _bitmask_for(self, scores: torch.Tensor) -> torch.Tensor:
        count, vocab_size = scores.shape
        sizes = [g.vocabulary.size for g in self._grammars if g is not None]
        width = max([vocab_size, *sizes])
        words = -(-width // 32)
        if self._bitmask is None or self._bitmask.shape != (count, words):
            self._bitmask = allocate_token_bitmask(count, width, "torch")
            if scores.is_cuda:
                self._bitmask = self._bitmask.pin_memory()
        return self._bitmask
