"""Rows along drafts are those of replaying each path, and the matcher is left as it was."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st
from support.engine import compile_or_none, compiler_of, mask_of, observe, properties
from support.strategies import ALPHABETS, grammars, vocabularies

from structag.matcher import Matcher

SHARE = max(5, settings.get_profile("structag").max_examples // 4)


def arrays_of(parents: list[int], tokens: list[int]) -> tuple[np.ndarray, ...]:
    """The tree in which node i + 1 hangs on parents[i], in the encoding of serving engines."""
    size = len(parents) + 1
    first, sibling = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    for parent in range(size):
        children = [i + 1 for i, p in enumerate(parents) if p == parent]
        if children:
            first[parent] = children[0]
        for left, right in pairwise(children):
            sibling[left] = right
    return first, sibling, np.array([0, *tokens], np.int64)


def replayed(matcher: Matcher, path: list[int], size: int) -> set[int]:
    """The mask after `path`; everything, if it is refused on the way."""
    fork = matcher.fork()
    return mask_of(fork, size) if all(map(fork.accept_token, path)) else set(range(size))


def rows_of(bitmask: np.ndarray, size: int) -> list[set[int]]:
    bits = np.unpackbits(bitmask.view(np.uint8), axis=1, bitorder="little")[:, :size]
    return [set(np.flatnonzero(row).tolist()) for row in bits]


@settings(properties(), max_examples=SHARE)
@given(st.data())
def test_rows_along_drafts_equal_replaying_each_path(data: st.DataObject) -> None:
    alphabet = data.draw(st.sampled_from(ALPHABETS))
    vocabulary = data.draw(vocabularies(alphabet, control=True))
    sample = data.draw(grammars(alphabet=alphabet, vocabulary=vocabulary))
    compiled = compile_or_none(compiler_of(vocabulary), sample.grammar)
    if compiled is None:
        event("nothing to match")
        return
    matcher, size = Matcher(compiled), len(vocabulary.contents)
    for _ in range(data.draw(st.integers(0, 3))):
        allowed = sorted(mask_of(matcher, size))
        if allowed:
            assert matcher.accept_token(data.draw(st.sampled_from(allowed)))
    before, history = observe(matcher, size), matcher.history_size
    tokens = st.integers(-1, size)
    nodes = data.draw(st.integers(0, 7))
    parents = [data.draw(st.integers(0, i)) for i in range(nodes)]
    drafts = [data.draw(tokens) for _ in range(nodes)]
    paths: list[list[int]] = [[]]
    for parent, token in zip(parents, drafts, strict=True):
        allowed = sorted(replayed(matcher, paths[parent], size))
        if allowed and data.draw(st.booleans()):  # mostly drafts that go on
            token = data.draw(st.sampled_from(allowed))
            drafts[len(paths) - 1] = token
        paths.append([*paths[parent], token])
    expected = [replayed(matcher, path, size) for path in paths]

    bitmask = np.zeros((nodes + 1, (size + 31) // 32), np.int32)
    assert matcher.traverse_draft_tree(*arrays_of(parents, drafts), bitmask)
    assert rows_of(bitmask, size) == expected
    assert observe(matcher, size) == before and matcher.history_size == history

    bitmask[:] = 0
    accepted = matcher.fill_draft_chain(drafts, bitmask)
    assert accepted == matcher.validate_tokens(drafts)
    chain = [replayed(matcher, drafts[:i], size) for i in range(nodes + 1)]
    assert rows_of(bitmask, size) == chain
    assert observe(matcher, size) == before and matcher.history_size == history
    event(f"{accepted} of {nodes} accepted")
