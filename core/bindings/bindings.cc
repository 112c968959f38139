// The Python module structag._core.  Converts, releases the GIL and raises; no logic of its own.

#include "bindings/bindings.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/nanobind.h"
#include "grammar/module.h"
#include "matching/engine.h"
#include "matching/generations.h"
#include "matching/matcher.h"
#include "metering/deadline.h"
#include "vocabulary/vocabulary.h"

namespace structag {
namespace {

std::span<const std::uint8_t> Span(const nb::bytes& data) {
  return {reinterpret_cast<const std::uint8_t*>(data.c_str()), data.size()};
}

void TranslateErrors(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const LimitReached& e) {
    const char* what = "";
    const char* setting = nullptr;  // of what no setting raises
    switch (e.limit()) {
      case Limit::kWork:
        what = "work in one call";
        setting = "max_work";
        break;
      case Limit::kMemory:
        what = "memory of one grammar";
        setting = "max_memory_bytes";
        break;
      case Limit::kExpressions:
        what = "size of a grammar";
        setting = "max_expressions";
        break;
      case Limit::kNesting: what = "nesting of a regular expression"; break;
    }
    const std::string message = std::string("the limit on ") + what + " was reached";
    nb::object error =
        Errors("LimitError")(message, nb::arg("limit") = what, nb::arg("value") = e.value(),
                             nb::arg("setting") = setting);  // null is None
    PyErr_SetObject(reinterpret_cast<PyObject*>(error.type().ptr()), error.ptr());
  } catch (const DeadlinePassed&) {
    nb::object error = Errors("DeadlineError")("the deadline passed", nb::arg("code") = "deadline");
    PyErr_SetObject(reinterpret_cast<PyObject*>(error.type().ptr()), error.ptr());
  } catch (const BadTree& e) {
    nb::object error = Errors("MatcherError")(e.what(), nb::arg("code") = "draft-tree",
                                              nb::arg("expected") = "a tree of nodes 0 to n - 1");
    PyErr_SetObject(reinterpret_cast<PyObject*>(error.type().ptr()), error.ptr());
  } catch (const Busy&) {
    nb::object error = Errors("MatcherError")(
        "another call of the matcher is under way", nb::arg("code") = "matcher-busy",
        nb::arg("expected") = "one call at a time; a fork for each thread");
    PyErr_SetObject(reinterpret_cast<PyObject*>(error.type().ptr()), error.ptr());
  } catch (const BadProgram& e) {
    nb::object error = Errors("GrammarError")(e.what(), nb::arg("code") = "grammar-operand");
    PyErr_SetObject(reinterpret_cast<PyObject*>(error.type().ptr()), error.ptr());
  }
}

nb::bytes AsBytes(const ByteSet& set) {
  std::string out;
  set.ForEach([&](std::uint8_t b) { out.push_back(static_cast<char>(b)); });
  return nb::bytes(out.data(), out.size());
}

void InitVocabulary(Vocabulary* self, const std::vector<nb::bytes>& token_bytes,
                    const nb::bytes& kinds, const std::vector<TokenId>& stop_token_ids) {
  std::vector<std::string_view> views;
  views.reserve(token_bytes.size());
  for (const nb::bytes& b : token_bytes) views.emplace_back(b.c_str(), b.size());
  if (kinds.size() != views.size()) throw nb::value_error("one kind per token");
  for (std::uint8_t kind : Span(kinds)) {
    if (kind > 3) throw nb::value_error("a token kind is 0 to 3");
  }
  const std::span<const std::uint8_t> kind_span = Span(kinds);
  const ReleaseGil release;
  new (self) Vocabulary(views, kind_span, stop_token_ids);
}

std::shared_ptr<Generations> MakeEngine(
    std::shared_ptr<Vocabulary> vocabulary, const nb::bytes& program, const nb::bytes& text,
    std::uint64_t max_work, std::uint64_t max_memory_bytes, std::uint64_t max_expressions,
    const std::vector<std::shared_ptr<Module>>& modules,
    std::optional<std::tuple<std::uint32_t, std::uint32_t, int>> forced,
    const std::vector<std::string>& without, std::uint64_t max_generation_bytes) {
  std::vector<std::uint32_t> words(program.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), program.c_str(), words.size() * sizeof(std::uint32_t));
  const std::vector<std::shared_ptr<const Module>> imports(modules.begin(), modules.end());
  Limits limits;
  limits.max_work = max_work;
  limits.max_memory_bytes = max_memory_bytes;
  limits.max_expressions = max_expressions;
  limits.max_generation_bytes = max_generation_bytes;
  Acceleration acceleration;
  for (const std::string& name : without) {
    const auto found = std::ranges::find(kShortCutNames, name);
    if (found == kShortCutNames.end()) throw nb::value_error("no such short cut");
    acceleration.short_cuts.Drop(static_cast<ShortCut>(found - kShortCutNames.begin()));
  }
  if (forced) {
    const auto [many_below, few_exits, wide_loop] = *forced;
    acceleration.many_below = many_below;
    acceleration.units = {few_exits, wide_loop, many_below, 0, 0};
  }
  const std::string_view view(text.c_str(), text.size());
  const ReleaseGil release;
  return std::make_shared<Generations>(std::move(vocabulary), Program{words, view, imports}, limits,
                                       acceleration);
}

using Int64s = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const std::int64_t> Span(const Int64s& array) { return {array.data(), array.shape(0)}; }

// The rows of `bitmask` from `index` on, at least `count` of them.
BitmaskRows RowsFrom(const Matcher& matcher, const Bitmask& bitmask, std::int64_t index,
                     std::size_t count) {
  const BitmaskRows all = RowsOf(bitmask, matcher.vocabulary());
  const auto first = static_cast<std::size_t>(index);
  if (index < 0 || first >= all.count) {
    RaiseCode("MatcherError", "bitmask-shape", "the row index is out of range",
              "0 <= index < rows of the bitmask");
  }
  if (all.count - first < count) {
    RaiseCode("MatcherError", "bitmask-shape", "the bitmask has too few rows",
              "a row for each token and one more");
  }
  return {all.data + first * all.width, all.count - first, all.width};
}

bool FillMask(Matcher& matcher, const Bitmask& bitmask, std::int64_t index) {
  const MatcherCall call(matcher);
  const BitmaskRows rows = RowsFrom(matcher, bitmask, index, 1);
  const ReleaseGil release;
  return matcher.FillMask(rows[0]);
}

// What is longer than ten days, or no number, is ten days.
std::chrono::nanoseconds Nanoseconds(double seconds) {
  constexpr double kLongest = 864'000;
  const double bounded = seconds < kLongest ? std::max(seconds, 0.0) : kLongest;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(bounded * 1e9));
}

std::size_t FillChain(Matcher& matcher, const std::vector<std::int64_t>& tokens,
                      const Bitmask& bitmask, std::int64_t index) {
  const MatcherCall call(matcher);
  const BitmaskRows rows = RowsFrom(matcher, bitmask, index, tokens.size() + 1);
  const ReleaseGil release;
  return FillDraftChain(matcher, tokens, rows);
}

bool FillTree(Matcher& matcher, const Int64s& first_child, const Int64s& next_sibling,
              const Int64s& tokens, const Bitmask& bitmask, std::optional<double> seconds) {
  const MatcherCall call(matcher);
  const DraftTree tree{Span(first_child), Span(next_sibling), Span(tokens)};
  const std::size_t size = tree.tokens.size();
  if (tree.first_child.size() != size || tree.next_sibling.size() != size) {
    RaiseCode("MatcherError", "draft-tree", "the arrays of the tree differ in length",
              "one number per node in each");
  }
  if (size == 0) return true;
  const BitmaskRows rows = RowsFrom(matcher, bitmask, 0, size);
  std::optional<std::chrono::steady_clock::time_point> deadline;
  if (seconds) deadline = std::chrono::steady_clock::now() + Nanoseconds(*seconds);
  const ReleaseGil release;
  return FillDraftTree(matcher, tree, rows, deadline);
}

void Rollback(Matcher& matcher, std::int64_t count) {
  const MatcherCall call(matcher);
  bool is_done = false;
  if (count >= 0) {
    const ReleaseGil release;
    is_done = matcher.Rollback(static_cast<std::size_t>(count));
  }
  if (!is_done) {
    RaiseCode("MatcherError", "matcher-state", "there are fewer entries to roll back",
              "0 <= count <= entries accepted");
  }
}

template <auto Method>
auto OneCall(Matcher& self) {
  const MatcherCall call(self);
  return (self.*Method)();
}

nb::list FindExpectations(Matcher& matcher) {
  const MatcherCall call(matcher);
  std::vector<Expectation> found;
  {
    const ReleaseGil release;
    found = matcher.Expectations();
  }
  nb::list out;
  for (const Expectation& e : found) {
    nb::list ids;
    for (std::size_t word = 0; word < e.ids.size(); ++word) {
      for (std::uint32_t bits = e.ids[word]; bits != 0; bits &= bits - 1) {
        ids.append(32 * word + static_cast<std::size_t>(std::countr_zero(bits)));
      }
    }
    out.append(nb::make_tuple(AsBytes(e.bytes), nb::bytes(e.rest.data(), e.rest.size()),
                              nb::tuple(ids), nb::cast(e.trails)));
  }
  return out;
}

void BindVocabulary(nb::module_& m) {
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def("__init__", &InitVocabulary, nb::arg("token_bytes"), nb::arg("kinds"),
           nb::arg("stop_token_ids"))
      .def_prop_ro("memory_bytes", &Vocabulary::MemoryBytes, nb::call_guard<ReleaseGil>())
      .def_prop_rw("library_bytes", &Vocabulary::library_bytes, &Vocabulary::set_library_bytes)
      .def("fill_counts", [](const Vocabulary& v) {
        const FillCounter::Counts counts = v.fill_counter().counts();
        return std::pair(counts.fills, counts.slow_fills);
      });
}

void InitDeadline(Deadline* self, std::optional<double> seconds) {
  std::optional<Deadline::Clock::time_point> at;
  if (seconds) at = Deadline::Clock::now() + Nanoseconds(*seconds);
  new (self) Deadline(at);
}

void BindDeadline(nb::module_& m) {
  nb::class_<Deadline>(m, "Deadline")
      .def("__init__", &InitDeadline, nb::arg("seconds").none())
      .def("stop", &Deadline::Stop)
      .def_prop_ro("has_passed", &Deadline::HasPassed)
      .def("enter", &Deadline::Enter)
      .def("exit", &Deadline::Exit);
  m.def("check_deadline", &Deadline::Check);
}

void BindEngine(nb::module_& m) {
  using Release = nb::call_guard<ReleaseGil>;
  nb::class_<Generations>(m, "Engine")
      .def_prop_ro(
          "is_empty", [](Generations& g) { return g.Newest()->start() == StatePool::kDead; },
          Release())
      .def_prop_ro(
          "looks_ahead", [](Generations& g) { return g.Newest()->looks_ahead(); }, Release())
      .def_prop_ro("needed_bytes",
                   [](Generations& g) {
                     const auto engine = WithoutGil([&] { return g.Newest(); });
                     return AsBytes(engine->needed_bytes());
                   })
      .def(
          "is_spellable",
          [](Generations& g) {
            const std::shared_ptr<Engine> engine = g.Newest();
            return Engine::Call(*engine).HasFirstToken();
          },
          Release())
      .def_prop_ro(
          "memory_bytes", [](const Generations& g) { return g.stats().memory_bytes; }, Release())
      .def("stats", [](const Generations& g) {
        const Generations::Stats s = WithoutGil([&] { return g.stats(); });
        nb::dict out;
        out["expressions"] = s.newest.expressions;
        out["states"] = s.newest.states;
        out["masks"] = s.newest.masks;
        out["summaries"] = s.newest.summaries;
        out["summaries_built"] = s.newest.summaries_built;
        out["summaries_reused"] = s.newest.summaries_reused;
        out["exits"] = s.newest.exits;
        out["nodes"] = s.newest.nodes;
        out["generations"] = s.generations;
        out["memory_bytes"] = s.memory_bytes;
        return out;
      });
  m.def("make_engine", &MakeEngine, nb::arg("vocabulary"), nb::arg("program"), nb::arg("text"),
        nb::arg("max_work"), nb::arg("max_memory_bytes"), nb::arg("max_expressions"),
        nb::arg("modules") = nb::make_tuple(), nb::arg("forced") = nb::none(),
        nb::arg("without") = std::vector<std::string>{},
        nb::arg("max_generation_bytes") = Limits{}.max_generation_bytes,
        "For tests: `forced`, the (many_below, few_exits, wide_loop) of Acceleration, and "
        "`without`, names of the short cuts not to take.");
  m.attr("SHORT_CUTS") = nb::tuple(
      nb::cast(std::vector<std::string_view>(kShortCutNames.begin(), kShortCutNames.end())));
}

void BindMatcher(nb::module_& m) {
  using Release = nb::call_guard<ReleaseGil>;
  nb::class_<Matcher>(m, "Matcher")
      .def(nb::init<std::shared_ptr<Generations>, std::vector<TokenId>>(), Release(),
           nb::arg("engine"), nb::arg("stop_token_ids"))
      .def(
          "accept_token",
          [](Matcher& self, TokenId id) {
            const MatcherCall call(self);
            if (const std::optional<bool> known = self.AcceptKnownToken(id)) return *known;
            const ReleaseGil release;
            return self.AcceptToken(id);
          },
          nb::arg("id"))
      .def("accept_bytes",
           [](Matcher& self, const nb::bytes& data) {
             const MatcherCall call(self);
             const std::span<const std::uint8_t> bytes = Span(data);
             const ReleaseGil release;
             return self.AcceptBytes(bytes);
           })
      .def("validate_tokens",
           [](Matcher& self, const std::vector<TokenId>& ids) {
             const MatcherCall call(self);
             const ReleaseGil release;
             return self.ValidateTokens(ids);
           })
      .def("fill_mask", &FillMask, nb::arg("bitmask").noconvert(), nb::arg("index"))
      .def("fill_draft_chain", &FillChain, nb::arg("tokens"), nb::arg("bitmask").noconvert(),
           nb::arg("index"))
      .def("fill_draft_tree", &FillTree, nb::arg("first_child").noconvert(),
           nb::arg("next_sibling").noconvert(), nb::arg("tokens").noconvert(),
           nb::arg("bitmask").noconvert(), nb::arg("seconds").none())
      .def("mask_id",
           [](Matcher& self) {
             const MatcherCall call(self);
             const ReleaseGil release;
             return self.MaskId();
           })
      .def("rollback", &Rollback, nb::arg("count"))
      .def("reset", OneCall<&Matcher::Reset>)
      .def(
          "fork",
          [](Matcher& self) {
            const MatcherCall call(self);
            return new Matcher(self);
          },
          nb::rv_policy::take_ownership)
      .def("is_complete", OneCall<&Matcher::IsComplete>)
      .def("is_terminated", OneCall<&Matcher::IsTerminated>)
      .def("history_size", OneCall<&Matcher::HistorySize>)
      .def("allowed_bytes",
           [](Matcher& self) {
             const MatcherCall call(self);
             ByteSet allowed;
             {
               const ReleaseGil release;
               allowed = self.AllowedBytes();
             }
             return AsBytes(allowed);
           })
      .def("expectations", &FindExpectations)
      .def("find_jump_forward", [](Matcher& self) {
        const MatcherCall call(self);
        std::string text;
        {
          const ReleaseGil release;
          text = self.FindJumpForward();
        }
        return nb::bytes(text.data(), text.size());
      });
}

}  // namespace

void bind_apply(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_grammar(nb::module_& m);
void bind_json(nb::module_& m);
void bind_schema(nb::module_& m);

}  // namespace structag

NB_MODULE(_core, m) {
  nb::register_exception_translator(structag::TranslateErrors);
  structag::BindDeadline(m);
  structag::BindVocabulary(m);
  structag::BindEngine(m);
  structag::BindMatcher(m);
  structag::bind_batch(m);
  structag::bind_apply(m);
  structag::bind_grammar(m);
  structag::bind_json(m);
  structag::bind_schema(m);
  m.def(
      "fail_after",
      [](std::optional<std::int64_t> charges) { structag::Meter::FailAfter(charges.value_or(-1)); },
      nb::arg("charges").none(),
      "Fault injection for tests: the n-th unit of work on this thread fails; None turns it off.");
}
