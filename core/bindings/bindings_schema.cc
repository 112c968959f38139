// The short way from a JSON Schema to a grammar; structag/schema/direct.py says what it takes.
//
// Walks the dicts and lists of a schema as they stand, under the GIL.  Whatever has to be known
// about a place besides is asked of the Python class that derives from SchemaReader; while that
// runs, anything may happen to the document, so that what is used afterwards is held.

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/bindings_grammar.h"
#include "bindings/nanobind.h"
#include "bindings/schema_keywords.h"
#include "grammar/grammar.h"
#include "grammar/json_text.h"

namespace structag {
namespace {

using MaybeRef = std::optional<NodeRef>;

// A node, or the way from a place to a subschema: a keyword, and a member's name if it has one.
struct Place {
  nb::handle node;
  const Place* above = nullptr;
  const char* keyword = nullptr;
  nb::handle name;
};

// Lowers what it can of one document.
class SchemaReader {
 public:
  // Of the arguments, `max_depth` is how deep schemas are read before one is left to the other way.
  SchemaReader(const Builder& builder, const KeywordTable& keywords, nb::handle max_whitespace,
               nb::handle separators, bool keeps_order, bool integer_decimals,
               std::uint32_t max_depth, std::size_t max_schemas)
      : table_(builder.table),
        keywords_(keywords),
        text_(*table_, MarksOf(*table_, max_whitespace, separators)),
        keeps_order_(keeps_order),
        integer_decimals_(integer_decimals),
        max_depth_(max_depth),
        max_schemas_(max_schemas) {
    of_types_.fill(kNone);
  }

  // The schemas that were read here, by their identities.
  nb::object AlreadyRead() const { return read_; }
  // What the other way has expanded counts, too.
  void CountIn(const nb::dict& expanded) { expanded_ = expanded; }

  // The expression of a schema that stands at `node`.
  MaybeRef Read(nb::handle schema, nb::handle node, std::uint32_t depth) {
    const Place place{node, nullptr, nullptr, {}};
    return Counted(schema, Said(schema, keywords_), place, depth);
  }

  // The rule for a schema that is being read; none if it is not.
  MaybeRef RuleUnderWay(nb::handle schema, nb::handle node) {
    const std::size_t at = UnderWay(schema);
    if (at == reading_.size()) return std::nullopt;
    return RuleOf(at, Place{node, nullptr, nullptr, {}});
  }

 private:
  struct UnderWayEntry {
    PyObject* schema;
    NodeRef rule;  // that stands for what leads back to it; kNone: nothing did
  };

  // -- what the deriving class knows

  template <class... Arguments>
  nb::object Ask(const char* method, Arguments&&... arguments) {
    return nb::find(*this).attr(method)(std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  NodeRef AskRef(const char* method, Arguments&&... arguments) {
    return nb::cast<NodeRef>(Ask(method, std::forward<Arguments>(arguments)...));
  }

  NodeRef AnyValue() {
    if (any_value_ == kNone) any_value_ = AskRef("any_value");
    return any_value_;
  }

  // The node of a place: made only where somebody has to know it.
  nb::object NodeAt(const Place& place) {
    if (place.above == nullptr) return nb::borrow(place.node);
    return Ask("node_below", NodeAt(*place.above), place.keyword,
               place.name.is_valid() ? nb::borrow(place.name) : nb::none());
  }

  NodeRef OtherWay(const Place& place, std::uint32_t depth) {
    return AskRef("other_way", NodeAt(place), depth);
  }

  // -- subschemas

  NodeRef Value(nb::handle schema, const Place& place, std::uint32_t depth) {
    if (schema.is(Py_True)) return AnyValue();
    if (schema.is(Py_False)) return GrammarTable::kEmpty;
    if (depth < max_depth_) {
      const Said said(schema, keywords_);
      if (!said.Has(kIdentifier)) {
        if (const MaybeRef ref = Counted(schema, said, place, depth)) return *ref;
      }
    }
    return OtherWay(place, depth);
  }

  MaybeRef Counted(nb::handle schema, const Said& said, const Place& place, std::uint32_t depth) {
    const nb::object identity = nb::steal(PyLong_FromVoidPtr(schema.ptr()));
    Add(read_, identity);
    CheckCount(place, 0);
    const MaybeRef ref = ReadSaid(schema, said, place, depth);
    if (!ref && PySet_Discard(read_.ptr(), identity.ptr()) < 0) throw nb::python_error();
    return ref;
  }

  std::size_t SchemaCount() const {
    return static_cast<std::size_t>(PyDict_Size(expanded_.ptr()) + PySet_Size(read_.ptr()));
  }

  // Refuses documents with too many subschemas, counting `more` that are about to come.
  void CheckCount(const Place& place, std::size_t more) {
    if (SchemaCount() + more > max_schemas_) Ask("check_count", NodeAt(place), more);
  }

  MaybeRef ReadSaid(nb::handle schema, const Said& said, const Place& place, std::uint32_t depth) {
    if (said.SaysOnly(0)) return AnyValue();
    if (said.Has(kReference)) {
      const bool is_alone = said.SaysOnly(kReference) || keywords_.ref_stands_alone;
      return is_alone ? Reference(said.Value(kReference), place, depth) : std::nullopt;
    }
    Types types = kAllTypes;
    if (said.Has(kType)) {
      types = keywords_.TypesOf(said.Value(kType));
      if (types == 0) return std::nullopt;
      if (said.SaysOnly(kType)) return OfTypes(types);
    }
    if (said.SaysOnly(kObjectKeywords)) {
      return Composite(&SchemaReader::Object, kObject, schema, said, types, place, depth);
    }
    if (said.Has(kItems) && said.SaysOnly(kArrayKeywords)) {
      return Composite(&SchemaReader::Array, kArray, schema, said, types, place, depth);
    }
    if (said.Has(kEnum) && said.SaysOnly(kEnumKeywords)) {
      return Enumeration(said.Value(kEnum), types);
    }
    if (said.SaysOnly(kScalarKeywords) && place.above != nullptr) {
      return Scalar(schema, types, place, depth);
    }
    return std::nullopt;
  }

  // Every value of some types.
  NodeRef OfTypes(Types types) {
    if (types == kAllTypes) return AnyValue();
    if (of_types_[types] == kNone) {
      const NodeRef ref = AllOfTypes(types);
      of_types_[types] = ref;
    }
    return of_types_[types];
  }

  NodeRef AllOfTypes(Types types) {
    Words ways;
    const auto add = [&](NodeRef way) { ways.push_back(way); };
    const auto literal = [&](const char* text) { add(table_->Literal(text, false)); };
    if ((types & kNull) != 0) literal("null");
    if ((types & kBoolean) != 0) {
      literal("false");
      literal("true");
    }
    if ((types & kNumber) != 0) {
      add(JsonNumber(*table_, false));
    } else if ((types & kInteger) != 0) {
      add(integer_decimals_ ? AskRef("any_integer") : JsonNumber(*table_, true));
    }
    if ((types & kString) != 0) add(Quoted(*table_, Codec::kJson, "\"", AnyText()));
    if ((types & kArray) != 0) add(text_.Array(AnyValue(), 0, kNone));
    if ((types & kObject) != 0) {
      add(Arranged({}, text_.FreeMember(AnyText(), AnyValue())));
    }
    return table_->Alt(ways);
  }

  NodeRef AnyText() { return table_->Not(GrammarTable::kEmpty); }

  MaybeRef Reference(nb::handle reference, const Place& place, std::uint32_t depth) {
    if (!Is(reference, PyUnicode_Type)) return std::nullopt;
    nb::object target = nb::borrow(Find(targets_, reference));
    if (!target.is_valid()) {
      target = Ask("target", NodeAt(place), reference);
      targets_[reference] = target;
    }
    if (target.is_none()) return std::nullopt;
    return AskRef("other_way", target, depth + IsInside(place));
  }

  // Strings out of a list; what else may be in one is rarer.
  MaybeRef Enumeration(nb::handle values, Types types) {
    if (!Is(values, PyList_Type) || PyList_Size(values.ptr()) == 0) return std::nullopt;
    if ((types & kString) == 0) return std::nullopt;
    std::vector<std::string_view> texts;
    bool is_known = true;
    ForEachItem(values, [&](nb::handle value) {
      const std::optional<std::string_view> text = Ascii(value);
      is_known = is_known && text.has_value();
      if (is_known) texts.push_back(*text);
    });
    if (!is_known) return std::nullopt;
    std::ranges::sort(texts);  // as the other way has them
    Words ways;
    for (std::string_view text : texts) ways.push_back(text_.String(text));
    return table_->Alt(ways);
  }

  // What has no subschemas: lowered by the other way, but equal ones only once.
  MaybeRef Scalar(nb::handle schema, Types types, const Place& place, std::uint32_t depth) {
    nb::list key;
    key.append(types);
    for (const auto& [name, value] : MembersOf(schema)) {
      const std::uint32_t bit = keywords_.Bit(name);
      if (bit == 0 || bit == kType || bit == kShaped) continue;
      key.append(name);
      key.append(value.type());
      key.append(value);
    }
    const nb::object said = nb::tuple(key);
    PyObject* known = PyDict_GetItemWithError(scalars_.ptr(), said.ptr());
    if (known != nullptr) return nb::cast<NodeRef>(nb::handle(known));
    if (PyErr_Occurred()) {  // a value of the wrong kind cannot be a key
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
      PyErr_Clear();
      return std::nullopt;
    }
    const NodeRef ref = OtherWay(place, depth);
    scalars_[said] = ref;
    return ref;
  }

  // -- what has subschemas

  static std::uint32_t IsInside(const Place& place) { return place.above == nullptr ? 0 : 1; }

  std::size_t UnderWay(nb::handle schema) const {
    std::size_t at = 0;
    while (at < reading_.size() && reading_[at].schema != schema.ptr()) ++at;
    return at;
  }

  NodeRef RuleOf(std::size_t at, const Place& place) {
    if (reading_[at].rule == kNone) {
      const NodeRef rule = AskRef("new_rule", NodeAt(place));
      reading_[at].rule = rule;
    }
    return reading_[at].rule;
  }

  using Reader = MaybeRef (SchemaReader::*)(const Said&, const Place&, std::uint32_t);

  // Each once, and not too deep; beside all values of other types.
  MaybeRef Composite(Reader read, Type own, nb::handle schema, const Said& said, Types types,
                     const Place& place, std::uint32_t depth) {
    const auto known = composites_.find(schema.ptr());
    if (known != composites_.end()) return known->second;
    const std::size_t at = UnderWay(schema);
    if (at < reading_.size()) return RuleOf(at, place);
    if ((types & own) == 0) return std::nullopt;
    reading_.push_back({schema.ptr(), kNone});
    MaybeRef ref = (this->*read)(said, place, depth + IsInside(place));
    const NodeRef rule = reading_.back().rule;
    reading_.pop_back();
    if (!ref) return ref;
    if (types != own) {
      const NodeRef ways[] = {*ref, OfTypes(types & ~static_cast<Types>(own))};
      ref = table_->Alt(ways);
    }
    if (rule != kNone) {
      table_->Define(rule, *ref);
      if (*ref != GrammarTable::kEmpty) ref = rule;
    }
    composites_[schema.ptr()] = *ref;
    held_.push_back(nb::borrow(schema));
    return ref;
  }

  MaybeRef Array(const Said& said, const Place& place, std::uint32_t depth) {
    const nb::handle items = said.Value(kItems);
    if (!IsSchema(items)) return std::nullopt;
    std::uint32_t low = 0, high = kNone;
    if (said.Has(kMinItems)) {
      const std::optional<std::uint32_t> count = Count(said.Value(kMinItems));
      if (!count) return std::nullopt;
      low = *count;
    }
    if (said.Has(kMaxItems)) {
      const std::optional<std::uint32_t> count = Count(said.Value(kMaxItems));
      if (!count) return std::nullopt;
      high = *count;
    }
    NodeRef item = GrammarTable::kEmpty;
    if (high != 0) item = Value(items, Place{{}, &place, "items", {}}, depth);
    return text_.Array(item, low, high);
  }

  void SortByStyle(std::vector<Named>& names) {
    nb::dict by_name;
    for (std::size_t i = 0; i < names.size(); ++i) by_name[names[i].name] = i;
    std::vector<Named> sorted;
    for (nb::handle name : Ask("in_style_order", nb::list(by_name))) {
      sorted.push_back(names[nb::cast<std::size_t>(by_name[name])]);
    }
    names.swap(sorted);
  }

  MaybeRef Object(const Said& said, const Place& place, std::uint32_t depth) {
    const nb::handle additional = said.Has(kAdditional) ? said.Value(kAdditional) : Py_True;
    if (!IsSchema(additional)) return std::nullopt;
    std::optional<std::vector<Named>> names = NamesOf(said);
    if (!names) return std::nullopt;
    if (!keeps_order_) SortByStyle(*names);
    CheckManyMembers(said, place);
    const Place rest_place{{}, &place, "additionalProperties", {}};
    std::vector<GrammarTable::Member> members;
    for (const Named& named : *names) {
      const NodeRef value =
          named.schema.is_valid()
              ? Value(named.schema, Place{{}, &place, "properties", named.name}, depth)
              : Value(additional, rest_place, depth);
      if (value != GrammarTable::kEmpty) {
        members.push_back({text_.Member(named.text, value), named.is_required});
      } else if (named.is_required) {
        return GrammarTable::kEmpty;
      }
    }
    NodeRef rest = GrammarTable::kEmpty;
    if (!additional.is(Py_False)) {
      const NodeRef value = Value(additional, rest_place, depth);
      rest = text_.FreeMember(NamesBesides(*names), value);
    }
    return Arranged(std::move(members), rest);
  }

  // A document with too many members is refused before any of them is read.
  void CheckManyMembers(const Said& said, const Place& place) {
    if (!said.Has(kProperties)) return;
    const auto most = static_cast<std::size_t>(PyDict_Size(said.Value(kProperties).ptr()));
    if (SchemaCount() + most <= max_schemas_) return;
    nb::set parts;  // one object may stand in many places
    for (const auto& [name, schema] : MembersOf(said.Value(kProperties))) {
      if (IsDict(schema)) parts.add(nb::steal(PyLong_FromVoidPtr(schema.ptr())));
    }
    CheckCount(place, parts.size());
  }

  // Every name (decoded) but these.
  NodeRef NamesBesides(const std::vector<Named>& names) {
    Words texts;
    for (const Named& named : names) texts.push_back(table_->Literal(named.text, false));
    return table_->Not(table_->Alt(texts));
  }

  // An object of these members, and any number of `rest`.
  NodeRef Arranged(std::vector<GrammarTable::Member> members, NodeRef rest) {
    if (keeps_order_) return table_->Sealed(text_.Object(std::move(members), rest));
    nb::list pairs;
    for (const GrammarTable::Member& member : members) {
      pairs.append(nb::make_tuple(member.ref, member.is_required));
    }
    return table_->Sealed(text_.Braced(AskRef("arranged", pairs, rest)));
  }

  const std::shared_ptr<GrammarTable> table_;
  const KeywordTable& keywords_;
  JsonText text_;
  const bool keeps_order_, integer_decimals_;
  const std::uint32_t max_depth_;
  const std::size_t max_schemas_;
  nb::set read_;
  nb::dict expanded_;
  NodeRef any_value_ = kNone;
  std::array<NodeRef, kAllTypes> of_types_;
  nb::dict scalars_, targets_;
  std::unordered_map<PyObject*, NodeRef> composites_;
  std::vector<nb::object> held_;  // the keys of `composites_`
  std::vector<UnderWayEntry> reading_;
};

}  // namespace

void bind_schema(nb::module_& m) {
  nb::class_<KeywordTable>(m, "KeywordTable")
      .def(nb::init<nb::handle, nb::handle, bool, const nb::dict&>(), nb::arg("assertions"),
           nb::arg("scalars"), nb::arg("ref_stands_alone"), nb::arg("shapes"));
  nb::class_<SchemaReader>(m, "SchemaReader")
      .def(nb::init<const Builder&, const KeywordTable&, nb::handle, nb::handle, bool, bool,
                    std::uint32_t, std::size_t>(),
           nb::arg("builder"), nb::arg("keywords"), nb::arg("max_whitespace").none(),
           nb::arg("separators").none(), nb::arg("keeps_order"), nb::arg("integer_decimals"),
           nb::arg("max_depth"), nb::arg("max_schemas"), nb::keep_alive<1, 3>())
      .def_prop_ro("already_read", &SchemaReader::AlreadyRead)
      .def("count_in", &SchemaReader::CountIn, nb::arg("expanded"))
      .def("read", &SchemaReader::Read, nb::arg("schema"), nb::arg("node").none(), nb::arg("depth"))
      .def("rule_under_way", &SchemaReader::RuleUnderWay, nb::arg("schema"), nb::arg("node"));
}

}  // namespace structag
