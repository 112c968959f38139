"""Test structag/transformers.py with a tiny random model, by every kind of search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("transformers")
torch = pytest.importorskip("torch")

from transformers import LlamaConfig, LlamaForCausalLM  # noqa: E402

import structag  # noqa: E402
from structag.transformers import LogitsProcessor  # noqa: E402

STOP, PAD, SIZE = 256, 257, 320  # the model has more logits than the vocabulary has tokens
VOCABULARY = structag.Vocabulary.from_token_bytes(
    [bytes([byte]) for byte in range(256)], special={STOP: "<stop>"}, stop_token_ids=STOP
)
COMPILER = structag.Compiler(VOCABULARY)
WORDS = COMPILER.compile_regex("(red|green|blue)(, (red|green|blue)){1,3}")
NUMBER = COMPILER.compile_regex("-?[1-9][0-9]{1,5}")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other make a tiny model slow where processors are shared."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(5)
    config = LlamaConfig(
        vocab_size=SIZE,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        eos_token_id=STOP,
        bos_token_id=None,
        pad_token_id=PAD,
    )
    return LlamaForCausalLM(config).eval()


def prompts(*texts: str) -> dict[str, Any]:
    """Padded on the left, as for `generate`."""
    length = max(map(len, texts))
    ids = [[PAD] * (length - len(text)) + list(text.encode()) for text in texts]
    tensor = torch.tensor(ids)
    return {"input_ids": tensor, "attention_mask": (tensor != PAD).long()}


def generated(model: Any, processor: Any, *texts: str, **options: Any) -> list[list[int]]:
    given = prompts(*texts)
    options = {"max_new_tokens": 40, "do_sample": False, **options}
    output = model.generate(**given, logits_processor=[processor], **options)
    return [row[given["input_ids"].shape[1] :] for row in output.tolist()]


def is_output(grammar: Any, tokens: list[int]) -> bool:
    """Whether the tokens, up to the first stop token, are an output of the grammar."""
    matcher = structag.Matcher(grammar)
    return (
        STOP in tokens
        and all(map(matcher.accept_token, tokens[: tokens.index(STOP) + 1]))
        and set(tokens[tokens.index(STOP) + 1 :]) <= {STOP, PAD}
    )


SEARCHES = {
    "greedy": {},
    "sampling": {"do_sample": True, "num_return_sequences": 3},
    "beams": {"num_beams": 4, "num_return_sequences": 4},
    "sampled beams": {"num_beams": 3, "do_sample": True},
    "more beams than tokens": {"num_beams": 24, "num_return_sequences": 2},
}


@pytest.mark.parametrize("options", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.filterwarnings("ignore::UserWarning:transformers")
def test_every_output_of_every_search_is_valid(model: Any, options: dict[str, Any]) -> None:
    torch.manual_seed(1)
    rows = generated(model, LogitsProcessor(WORDS), "some", "colours: no {grammar}", **options)

    assert all(is_output(WORDS, row) for row in rows), rows


def test_each_prompt_has_its_own_grammar(model: Any) -> None:
    processor = LogitsProcessor([WORDS, NUMBER, None])
    rows = generated(
        model, processor, "a", "bb", "ccc", num_beams=2, num_return_sequences=2, max_new_tokens=30
    )

    assert [is_output(WORDS, row) for row in rows] == [True] * 2 + [False] * 4
    assert [is_output(NUMBER, row) for row in rows] == [False] * 2 + [True] * 2 + [False] * 2


def test_a_processor_is_used_again(model: Any) -> None:
    processor = LogitsProcessor(WORDS)
    for texts in (["red"], ["red", "x"], ["red"], ["red"]):
        again = generated(model, processor, *texts, num_beams=2)

        assert again == generated(model, LogitsProcessor(WORDS), *texts, num_beams=2)


def test_the_next_turn_of_a_conversation_starts_anew(model: Any) -> None:
    processor = LogitsProcessor(WORDS)
    given = prompts("first")["input_ids"]
    first = model.generate(given, logits_processor=[processor], max_new_tokens=40, do_sample=False)
    turn = torch.cat([first, prompts("and then?")["input_ids"]], dim=1)
    second = model.generate(turn, logits_processor=[processor], max_new_tokens=40, do_sample=False)

    assert is_output(WORDS, second[0, turn.shape[1] :].tolist())


def test_assisted_generation_writes_the_same(model: Any) -> None:
    processor = LogitsProcessor(WORDS, allows_strays=True)
    text = "red, green, blue, green, red"

    assert generated(model, processor, text, prompt_lookup_num_tokens=4) == generated(
        model, LogitsProcessor(WORDS), text
    )


def allowed(scores: Any) -> list[set[int]]:
    return [set(row.isfinite().nonzero().flatten().tolist()) for row in scores]


def replayed(grammar: Any, tokens: list[int]) -> set[int]:
    matcher = structag.Matcher(grammar)
    assert all(map(matcher.accept_token, tokens))
    mask = structag.allocate_token_bitmask(1, SIZE, "torch")
    matcher.fill_next_token_bitmask(mask)
    return allowed(structag.apply_token_bitmask_inplace(torch.zeros(1, SIZE), mask))[0]


@settings(max_examples=max(10, settings().max_examples // 20))  # several steps each
@given(st.data())
def test_rows_may_be_moved_copied_and_shortened(data: st.DataObject) -> None:
    """Whatever happens to the rows, each is masked as if its tokens were replayed."""
    processor = LogitsProcessor(WORDS)
    count = data.draw(st.integers(1, 4))
    rows: list[list[int]] = [[] for _ in range(count)]
    for _ in range(data.draw(st.integers(1, 8))):
        ids = torch.tensor([[*b"prompt", *row] for row in rows])
        scores = torch.zeros(count, SIZE)
        masked = allowed(processor(ids, scores))

        assert masked == [replayed(WORDS, row) for row in rows]
        assert not scores.any()
        kept = (
            data.draw(st.integers(1, len(rows[0])))
            if rows[0] and data.draw(st.booleans())
            else None
        )
        chosen = [data.draw(st.sampled_from(range(count))) for _ in range(count)]
        rows = [
            rows[i][:kept] if kept else [*rows[i], data.draw(st.sampled_from(sorted(masked[i])))]
            for i in chosen
        ]


def test_after_the_end_padding_is_not_matched() -> None:
    processor = LogitsProcessor(NUMBER)
    ids = torch.tensor([[PAD, 7]])
    for token in (*b"10", STOP, PAD, PAD):
        processor(ids, torch.zeros(1, SIZE))
        ids = torch.cat([ids, torch.tensor([[token]])], dim=1)

    assert allowed(processor(ids, torch.zeros(1, SIZE))) == [{STOP}]


def test_a_token_that_was_disallowed_is_an_error() -> None:
    processor = LogitsProcessor(NUMBER)
    processor(torch.tensor([[1, 2]]), torch.zeros(1, SIZE))
    with pytest.raises(structag.MatcherError) as caught:
        processor(torch.tensor([[1, 2, ord("x")]]), torch.zeros(1, SIZE))

    assert caught.value.code == "matcher-state"
    assert str(caught.value) == (
        "token 120 was generated, which was disallowed; let no other processor change the scores "
        "afterwards; for assisted generation set `allows_strays`"
    )


def test_strays_are_left_as_they_are() -> None:
    processor = LogitsProcessor(NUMBER, allows_strays=True)
    processor(torch.tensor([[1], [1]]), torch.zeros(2, SIZE))
    masked = processor(torch.tensor([[1, ord("x")], [1, ord("5")]]), torch.zeros(2, SIZE))

    assert allowed(masked) == [set(range(SIZE)), replayed(NUMBER, [ord("5")])]


def test_reset_starts_anew_where_the_prompt_is_the_last_output_and_a_token() -> None:
    processor = LogitsProcessor(NUMBER)
    processor(torch.tensor([[1]]), torch.zeros(1, SIZE))
    processor.reset()

    assert allowed(processor(torch.tensor([[1, ord("5")]]), torch.zeros(1, SIZE))) == [
        replayed(NUMBER, [])
    ]


def test_rows_that_cannot_be_shared_out_are_refused() -> None:
    with pytest.raises(structag.MatcherError) as caught:
        LogitsProcessor([NUMBER, WORDS])(torch.tensor([[1]] * 3), torch.zeros(3, SIZE))

    assert str(caught.value) == "3 rows for 2 grammars, expected as many prompts as grammars"


def test_other_stop_tokens_end_the_output() -> None:
    processor = LogitsProcessor(NUMBER, stop_token_ids=[0])
    ids = torch.tensor([[9]])
    for token in b"12":
        processor(ids, torch.zeros(1, SIZE))
        ids = torch.cat([ids, torch.tensor([[token]])], dim=1)

    assert allowed(processor(ids, torch.zeros(1, SIZE))) == [{0, *b"0123456789"}]
