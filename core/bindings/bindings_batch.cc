// Python bindings of batch.h; converts arguments and releases the GIL, nothing else.

#include <mutex>
#include <vector>

#include "bindings/bindings.h"
#include "matching/batch.h"

namespace structag {
namespace {

using Matchers = std::vector<Matcher*>;
using Numbers = std::vector<std::int64_t>;
using Drafts = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The error that an exception becomes in Python: nanobind translates what passes through a call.
nb::object ErrorOf(const std::exception_ptr& error) {
  const nb::object raise = nb::cpp_function([&] { std::rethrow_exception(error); });
  try {
    raise();
  } catch (nb::python_error& e) {
    return nb::borrow(e.value());
  }
  return nb::none();
}

// (values, errors by matcher), the values as `make` makes them.
template <class Make>
nb::tuple Result(BatchMatcher::Outcomes outcomes, Make make) {
  nb::object values = nb::steal(PyList_New(static_cast<Py_ssize_t>(outcomes.size())));
  nb::dict errors;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const nb::object value = make(outcomes[i].value);
    PyList_SetItem(values.ptr(), static_cast<Py_ssize_t>(i), value.inc_ref().ptr());
    if (outcomes[i].error) errors[nb::int_(i)] = ErrorOf(outcomes[i].error);
  }
  return nb::make_tuple(values, errors);
}

nb::object Truth(std::int64_t value) { return nb::bool_(value != 0); }
nb::object Count(std::int64_t value) { return nb::int_(value); }

void RequireSize(std::size_t size, const Matchers& matchers) {
  if (size != matchers.size()) throw BadBatch("there are not as many numbers as matchers");
}

// In memory that the thread keeps, so that a call allocates nothing.
const Matchers& ReadMatchers(const nb::list& matchers) {
  thread_local Matchers in;
  in.clear();
  for (nb::handle matcher : matchers) in.push_back(&nb::cast<Matcher&>(matcher));
  return in;
}

struct Arguments {
  const Matchers& matchers;
  Numbers numbers;  // one for each
};

const Arguments& Read(const nb::list& matchers, const nb::list& numbers) {
  thread_local Arguments in{ReadMatchers(matchers), {}};
  in.numbers.clear();
  ReadMatchers(matchers);
  for (nb::handle number : numbers) in.numbers.push_back(nb::cast<std::int64_t>(number));
  RequireSize(in.numbers.size(), in.matchers);
  return in;
}

// Rows of a mask for all of the matchers.
BitmaskRows RowsForAll(const Matchers& matchers, const Bitmask& bitmask) {
  if (matchers.empty()) return {};
  const Vocabulary* widest = &matchers[0]->vocabulary();
  for (const Matcher* matcher : matchers) {
    const Vocabulary& vocabulary = matcher->vocabulary();
    if (vocabulary.MaskWords() > widest->MaskWords()) widest = &vocabulary;
  }
  return RowsOf(bitmask, *widest);
}

// What Python knows: one call at a time, whatever the threads.
struct Batch {
  explicit Batch(unsigned threads) : matcher(threads) {}
  BatchMatcher matcher;
  std::mutex mutex;
};

// Carries out `call`, which needs no GIL, in turn; the mutex is only waited for without the GIL.
template <class Call, class Make>
nb::tuple InTurn(Batch& self, Call call, Make make) {
  const OutsideOfCalls first;
  std::unique_lock<std::mutex> turn(self.mutex, std::defer_lock);
  BatchMatcher::Outcomes outcomes;
  {
    const nb::gil_scoped_release release;
    turn.lock();
    outcomes = call();
  }
  return Result(outcomes, make);
}

nb::tuple Fill(Batch& self, const nb::list& matchers, const Bitmask& bitmask,
               const nb::list& rows) {
  const Arguments& in = Read(matchers, rows);
  const BitmaskRows all = RowsForAll(in.matchers, bitmask);
  return InTurn(self, [&] { return self.matcher.Fill(in.matchers, all, in.numbers); }, Truth);
}

nb::tuple Accept(Batch& self, const nb::list& matchers, const nb::list& tokens) {
  const Arguments& in = Read(matchers, tokens);
  return InTurn(self, [&] { return self.matcher.Accept(in.matchers, in.numbers); }, Truth);
}

nb::tuple Rollback(Batch& self, const nb::list& matchers, const nb::list& counts) {
  const Arguments& in = Read(matchers, counts);
  return InTurn(self, [&] { return self.matcher.Rollback(in.matchers, in.numbers); }, Truth);
}

nb::tuple MaskIds(Batch& self, const nb::list& matchers) {
  const Matchers& in = ReadMatchers(matchers);
  return InTurn(self, [&] { return self.matcher.MaskIds(in); }, Count);
}

nb::tuple FillChains(Batch& self, const nb::list& matchers, const Drafts& drafts,
                     const Bitmask& bitmask, const nb::list& rows) {
  const Arguments& in = Read(matchers, rows);
  RequireSize(drafts.shape(0), in.matchers);
  const BitmaskRows all = RowsForAll(in.matchers, bitmask);
  const std::span<const std::int64_t> tokens(drafts.data(), drafts.size());
  const auto call = [&] {
    return self.matcher.FillDraftChains(in.matchers, tokens, drafts.shape(1), all, in.numbers);
  };
  return InTurn(self, call, Count);
}

void TranslateBadBatch(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const BadBatch& e) {
    const nb::object error = Errors("MatcherError")(
        e.what(), nb::arg("code") = "batch",
        nb::arg("expected") = "every matcher once, with a row and a number of its own");
    PyErr_SetObject(reinterpret_cast<PyObject*>(error.type().ptr()), error.ptr());
  }
}

}  // namespace

void bind_batch(nb::module_& m) {
  nb::register_exception_translator(TranslateBadBatch);
  nb::class_<Batch>(m, "BatchMatcher")
      .def(nb::init<unsigned>(), nb::arg("threads"))
      .def("fill", &Fill, nb::arg("matchers"), nb::arg("bitmask").noconvert(), nb::arg("rows"))
      .def("accept", &Accept, nb::arg("matchers"), nb::arg("tokens"))
      .def("rollback", &Rollback, nb::arg("matchers"), nb::arg("counts"))
      .def("mask_ids", &MaskIds, nb::arg("matchers"))
      .def("fill_draft_chains", &FillChains, nb::arg("matchers"), nb::arg("drafts").noconvert(),
           nb::arg("bitmask").noconvert(), nb::arg("rows"));
}

}  // namespace structag
