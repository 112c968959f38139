// The engines of one compiled grammar, one after the other.  An engine grows with every state it
// meets; when it has grown by its share, the next matcher that asks starts another one, into which
// matchers take along where they stand.  The last matcher that leaves an engine frees it.
//
// Thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "grammar/program.h"
#include "matching/engine.h"

namespace structag {

class Generations {
 public:
  // Throws what Engine does.
  Generations(std::shared_ptr<const Vocabulary> vocabulary, const Program& program,
              const Limits& limits, const Acceleration& acceleration = {});

  // The engine to use from now on; a new one if the last one is full.
  std::shared_ptr<Engine> Newest();

  struct Stats {
    Engine::Stats newest;
    std::size_t generations;  // that were started
    std::size_t libraries;    // of units that the vocabulary started
    std::size_t memory_bytes;
  };
  Stats stats() const;

 private:
  std::shared_ptr<Engine> Start() const;

  const std::shared_ptr<const Vocabulary> vocabulary_;
  const std::vector<std::uint32_t> words_;  // of the program
  const std::string text_;
  const std::vector<std::shared_ptr<const Module>> imports_;
  const Limits limits_;
  const Acceleration acceleration_;
  mutable std::mutex mutex_;
  std::shared_ptr<Engine> newest_;
  std::size_t started_ = 1;
};

}  // namespace structag
