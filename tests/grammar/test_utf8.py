"""`structag.grammar.utf8` against Python's own encoder."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from structag.grammar.builder import normalize_ranges
from structag.grammar.expressions import UNICODE_SCALARS
from structag.grammar.utf8 import ByteRange, byte_ranges, utf8_sequences, utf8_tree


def spelled(sequences: tuple[tuple[ByteRange, ...], ...]) -> set[bytes]:
    found: set[bytes] = set()
    for sequence in sequences:
        strings = [b""]
        for low, high in sequence:
            strings = [s + bytes([b]) for s in strings for b in range(low, high + 1)]
        assert found.isdisjoint(strings)
        found.update(strings)
    return found


def test_all_of_unicode_is_nine_sequences_and_every_scalar_value() -> None:
    sequences = utf8_sequences(UNICODE_SCALARS)

    assert len(sequences) == 9
    everything = {chr(c).encode() for low, high in UNICODE_SCALARS for c in range(low, high + 1)}
    assert spelled(sequences) == everything


@pytest.mark.parametrize("seed", range(200))
def test_random_ranges_spell_what_the_encoder_spells(seed: int) -> None:
    rng = random.Random(seed)
    edges = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xFFFF, 0x10000, 0x3FFFF, 0x10FFFF]
    ranges = []
    for _ in range(rng.randint(1, 6)):
        low = max(0, rng.choice(edges) + rng.randint(-200, 200))
        ranges.append((low, low + rng.choice([0, 1, 63, 64, 700, 5000])))
    normal = normalize_ranges(ranges)

    expected = {chr(c).encode() for low, high in normal for c in range(low, high + 1)}
    assert spelled(utf8_sequences(normal)) == expected


def test_sequences_are_sorted_and_share_prefixes() -> None:
    normal = normalize_ranges([(0x100, 0x101), (0x110, 0x111), (0x800, 0x9000), (0x61, 0x61)])
    sequences = utf8_sequences(normal)

    assert list(sequences) == sorted(sequences)
    for a, b in pairwise(sequences):
        assert a[0] == b[0] or a[0][1] < b[0][0]


def test_leads_with_equal_continuations_are_one_branch() -> None:
    tree = utf8_tree(normalize_ranges([(0x100, 0x100), (0x140, 0x140)]))

    assert len(tree) == 1
    assert byte_ranges(tree[0][0]) == [(0xC4, 0xC5)]


def test_byte_ranges_of_random_sets() -> None:
    rng = random.Random(7)
    for _ in range(300):
        members = rng.getrandbits(256) & rng.getrandbits(256)
        runs = byte_ranges(members)
        listed = [b for low, high in runs for b in range(low, high + 1)]
        assert listed == [b for b in range(256) if members >> b & 1]
        assert all(a[1] + 1 < b[0] for a, b in pairwise(runs))
