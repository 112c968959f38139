"""Masks depend on nothing compiled or matched before, nor on the number of threads."""

from __future__ import annotations

import threading
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st
from support.engine import LIMITS, compile_or_none, mask_of, observe, properties, vocabulary_of
from support.strategies import ALPHABETS, grammars, vocabularies

from structag.compiler import Compiler
from structag.grammar.expressions import Grammar
from structag.matcher import Matcher
from structag.vocabulary import Vocabulary

Seen = list[Any]


def walk(compiled: Any, choices: list[int], size: int) -> Seen:
    """What a matcher looks like along the walk that `choices` picks from its masks."""
    if compiled is None:
        return []
    matcher = Matcher(compiled)
    seen: Seen = [observe(matcher, size)]
    for choice in choices:
        tokens = sorted(mask_of(matcher, size))
        if not tokens:
            break
        assert matcher.accept_token(tokens[choice % len(tokens)])
        seen.append(observe(matcher, size))
    return seen


class Scene:
    """One vocabulary, some grammars and walks, as drawn."""

    def __init__(self, data: st.DataObject) -> None:
        alphabet = data.draw(st.sampled_from(ALPHABETS))
        sample = data.draw(vocabularies(alphabet, complete=data.draw(st.booleans()), control=True))
        self.vocabulary: Vocabulary = vocabulary_of(sample)
        self.size = len(sample.contents)
        named = st.sampled_from([sample, None])
        count = data.draw(st.integers(2, 3))
        self.grammars: list[Grammar] = [
            data.draw(grammars(alphabet=alphabet, vocabulary=data.draw(named))).grammar
            for _ in range(count)
        ]
        choices = st.lists(st.integers(0, 300), min_size=1, max_size=6)
        self.walks = data.draw(st.lists(choices, min_size=2, max_size=4))

    def alone(self) -> list[list[Seen]]:
        """Each walk by itself: a new compiler and a new vocabulary every time."""
        return [
            [
                walk(self.compile(self.fresh(), grammar), choices, self.size)
                for choices in self.walks
            ]
            for grammar in self.grammars
        ]

    def fresh(self) -> Compiler:
        """A compiler over a vocabulary that has never been used."""
        return Compiler(self.vocabulary.resized(self.size), limits=LIMITS)

    def compile(self, compiler: Compiler, grammar: Grammar) -> Any:
        return compile_or_none(compiler, grammar)


@properties()
@given(st.data())
def test_the_order_of_compiling_and_matching_changes_nothing(data: st.DataObject) -> None:
    scene = Scene(data)
    expected = scene.alone()
    jobs = [(g, w) for g in range(len(scene.grammars)) for w in range(len(scene.walks))]
    compiler = scene.fresh()
    compiled: dict[int, Any] = {}
    for g, w in data.draw(st.permutations(jobs)):
        if g not in compiled or data.draw(st.integers(0, 3)) == 0:
            compiled[g] = scene.compile(compiler, scene.grammars[g])

        assert walk(compiled[g], scene.walks[w], scene.size) == expected[g][w]
    event(f"{sum(len(seen) for row in expected for seen in row)} states")


@properties()
@given(st.data())
def test_threads_see_the_same_masks(data: st.DataObject) -> None:
    """All walks at once, on one compiler, with one thread for each."""
    scene = Scene(data)
    expected = scene.alone()
    compiler = scene.fresh()
    compiled = [scene.compile(compiler, grammar) for grammar in scene.grammars]
    found: dict[tuple[int, int], Seen] = {}
    barrier = threading.Barrier(len(scene.grammars) * len(scene.walks))

    def run(g: int, w: int) -> None:
        barrier.wait()
        found[g, w] = walk(compiled[g], scene.walks[w], scene.size)

    threads = [
        threading.Thread(target=run, args=(g, w))
        for g in range(len(scene.grammars))
        for w in range(len(scene.walks))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {(g, w): seen for g, row in enumerate(expected) for w, seen in enumerate(row)}
