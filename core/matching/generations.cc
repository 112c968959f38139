#include "matching/generations.h"

#include <utility>

namespace structag {

Generations::Generations(std::shared_ptr<const Vocabulary> vocabulary, const Program& program,
                         const Limits& limits, const Acceleration& acceleration)
    : vocabulary_(std::move(vocabulary)),
      words_(program.words.begin(), program.words.end()),
      text_(program.text),
      imports_(program.imports.begin(), program.imports.end()),
      limits_(limits),
      acceleration_(acceleration),
      newest_(Start()) {}

std::shared_ptr<Engine> Generations::Start() const {
  return std::make_shared<Engine>(vocabulary_, Program{words_, text_, imports_}, limits_,
                                  acceleration_);
}

std::shared_ptr<Engine> Generations::Newest() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (newest_->IsFull()) {
    newest_ = Start();
    ++started_;
  }
  return newest_;
}

Generations::Stats Generations::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Engine::Stats newest = newest_->stats();
  const std::size_t program =
      words_.capacity() * sizeof(std::uint32_t) + text_.capacity() + sizeof(Generations);
  return {newest, started_, vocabulary_->libraries(), newest.memory_bytes + program};
}

}  // namespace structag
