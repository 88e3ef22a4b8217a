// Metric: what a run reports under one name, a measure on a split, together with what the measure means.
// Place in the flow: read from the database (store/metrics.hpp) or a spool, shown by everything that shows
// numbers.
#pragma once

#include <optional>
#include <string>

#include <encore/measure.hpp>

#include "base/measures.hpp"

namespace encore {

struct Metric {
  std::string name = {};  ///< "dev/f1", "test/f1/PER"
  /// Of unknown meaning: an opaque number of which neither direction is better.
  Measure meaning = {.name = "", .better = Better::neither};

  bool is_known() const { return !meaning.name.empty(); }
  bool lower_is_better() const { return meaning.better == Better::lower; }
  bool is_fraction() const { return meaning.fraction; }

  /// "dev" of "dev/f1"; empty for a name without a split.
  std::string split() const {
    return name.substr(0, name.find('/') == std::string::npos ? 0 : name.find('/'));
  }
  /// "f1" of "dev/f1", "f1/PER" of "dev/f1/PER".
  std::string measure_name() const {
    return name.substr(name.find('/') == std::string::npos ? 0 : name.find('/') + 1);
  }
  /// "PER" of "test/f1/PER", a member of the family "f1/{label}"; nothing for what is no member of a family.
  std::optional<std::string> key() const { return key_in_name(meaning, measure_name()); }
  /// "F1"; of a member "F1 of PER".
  std::string title() const {
    const std::optional<std::string> one = key();
    if (one) return (meaning.title.empty() ? family_name(meaning) : meaning.title) + " of " + *one;
    return meaning.title.empty() ? measure_name() : meaning.title;
  }
};

}  // namespace encore
