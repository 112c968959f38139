// Test codec.cc: what each escape decodes to, what is refused, and what a begun escape may become.

#include "text/codec.h"

#include <optional>
#include <string_view>
#include <vector>

#include "check.h"

namespace structag {
namespace {

// The decoded units of `raw`; nothing if it is refused or ends inside an escape.
std::optional<std::vector<std::uint32_t>> Decode(Codec codec, std::string_view raw) {
  std::vector<std::uint32_t> out;
  CodecState state = kCodecRest;
  for (char c : raw) {
    const CodecMove move = CodecStep(codec, state, static_cast<std::uint8_t>(c));
    if (move.kind == CodecMove::Kind::kReject) return std::nullopt;
    if (move.kind != CodecMove::Kind::kSilent) out.push_back(move.output);
    state = move.next;
  }
  if (state != kCodecRest) return std::nullopt;
  return out;
}

bool Gives(Codec codec, std::string_view raw, std::vector<std::uint32_t> expected) {
  return Decode(codec, raw) == expected;
}

void TestJson() {
  CHECK(Gives(Codec::kJson, "a\\n\\/\\u0041", {'a', '\n', '/', 'A'}));
  CHECK(Gives(Codec::kJson, "\\uD83D\\uDe00", {0x1F600}));
  for (std::string_view bad : {"\"", "\n", "\\x", "\\u12G4", "\\ud83d", "\\ud83dx", "\\ud83d\\n",
                               "\\ud83d\\u0041", "\\ude00", "\\"}) {
    CHECK(!Decode(Codec::kJson, bad));
  }
}

void TestPython() {
  for (Codec codec : {Codec::kPythonDouble, Codec::kPythonSingle}) {
    CHECK(Gives(codec, "a\\n\\'\\\"\\\\\\x41\\u00e9\\a\\v",
                {'a', '\n', '\'', '"', '\\', 'A', 0xE9, 7, 11}));
    for (std::string_view bad : {"\n", "\\/", "\\0", "\\x4", "\\xg0", "\\u004", "\\ud83d",
                                 "\\ude00", "\\ud83d\\ude00", "\\U0001f600", "\\N", "\\"}) {
      CHECK(!Decode(codec, bad));
    }
  }
  CHECK(Gives(Codec::kPythonDouble, "'", {'\''}));
  CHECK(!Decode(Codec::kPythonDouble, "\""));
  CHECK(Gives(Codec::kPythonSingle, "\"", {'"'}));
  CHECK(!Decode(Codec::kPythonSingle, "'"));
}

void TestXml() {
  CHECK(Gives(Codec::kXml, "a&lt;&gt;&amp;&quot;&apos;", {'a', '<', '>', '&', '"', '\''}));
  CHECK(Gives(Codec::kXml, "&#65;&#x1F600;&#0065;", {'A', 0x1F600, 'A'}));
  for (std::string_view bad : {"<", "&", "&l", "&lt", "&nbsp;", "&#;", "&#x;", "&#0;", "&#xD800;",
                               "&#x110000;", "&#xg;", "&#99999999;"}) {
    CHECK(!Decode(Codec::kXml, bad));
  }
}

// Every string of up to `left` more bytes that finishes the escape lands in the pending ranges.
void CheckPending(Codec codec, CodecState state, std::string_view alphabet, int left,
                  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pending, bool* hit) {
  for (char c : alphabet) {
    const CodecMove move = CodecStep(codec, state, static_cast<std::uint8_t>(c));
    if (move.kind == CodecMove::Kind::kCharacter) {
      bool inside = false;
      for (const auto& [low, high] : pending) {
        inside = inside || (low <= move.output && move.output <= high);
      }
      CHECK(inside);
      *hit = true;
    } else if (move.kind == CodecMove::Kind::kSilent && left > 1) {
      CheckPending(codec, move.next, alphabet, left - 1, pending, hit);
    }
  }
}

void TestPending() {
  const std::string_view hex = "0189dDeEfF\\u\"nb";
  for (std::string_view start : {"\\", "\\u", "\\ud", "\\ud8", "\\udc", "\\ud83d", "\\ud83d\\",
                                 "\\ud83d\\u", "\\ud83d\\ud", "\\u00"}) {
    CodecState state = kCodecRest;
    for (char c : start) state = CodecStep(Codec::kJson, state, static_cast<std::uint8_t>(c)).next;
    bool hit = false;
    const auto pending = CodecPending(Codec::kJson, state);
    CheckPending(Codec::kJson, state, hex, 8, pending, &hit);
    CHECK(hit == !pending.empty());
  }
  for (std::string_view start : {"\\", "\\x", "\\x8", "\\u", "\\ud", "\\ud8", "\\udc", "\\u00"}) {
    for (Codec codec : {Codec::kPythonDouble, Codec::kPythonSingle}) {
      CodecState state = kCodecRest;
      for (char c : start) state = CodecStep(codec, state, static_cast<std::uint8_t>(c)).next;
      bool hit = false;
      const auto pending = CodecPending(codec, state);
      CheckPending(codec, state, "0189dDeEfF\\ux\"'nb", 8, pending, &hit);
      CHECK(hit == !pending.empty());
    }
  }
  for (std::string_view start : {"&", "&a", "&q", "&#", "&#1", "&#x", "&#xD8", "&#x10FFF"}) {
    CodecState state = kCodecRest;
    for (char c : start) state = CodecStep(Codec::kXml, state, static_cast<std::uint8_t>(c)).next;
    bool hit = false;
    CheckPending(Codec::kXml, state, "amposqut#x0189F;", 6, CodecPending(Codec::kXml, state), &hit);
    CHECK(hit);
  }
}

}  // namespace
}  // namespace structag

int main() {
  structag::TestJson();
  structag::TestPython();
  structag::TestXml();
  structag::TestPending();
}
