// Confusion: how often words of one type were taken for another. Place in the flow: tasks/ner_score.hpp
// counts while a model is scored, report/classes.cpp counts stored predictions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace encore {

/// Words by the type of their tag, "O" for those outside of entities.
class Confusion {
 public:
  /// One sentence. `predicted` may be shorter than `truth`: the rest is O.
  void add(std::span<const std::string> truth, std::span<const std::string> predicted);

  /// O first, then the types that stand in the truth or in the predictions, sorted.
  std::vector<std::string> names() const;
  /// counts()[truth][predicted], both numbered as in names().
  std::vector<std::vector<std::int64_t>> counts() const;

 private:
  std::map<std::pair<std::string, std::string>, std::int64_t> pairs_;
};

}  // namespace encore
