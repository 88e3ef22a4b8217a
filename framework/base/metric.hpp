// SPDX-License-Identifier: BSD-3-Clause
// Metric: the name of a series of values of a run ("dev/f1": a split and a measure) and the meaning of its
// measure. Place in the flow: store/metrics.hpp reads it from the database, or a reader of spools from a
// spool; tables, reports and progress show values with it. Databases have the names in this form, so it must
// not change.
#pragma once

#include <optional>
#include <string>

#include <encore/measure.hpp>

#include "base/measures.hpp"

namespace encore {

struct Metric {
  std::string name = {};  ///< "dev/f1", "test/f1/PER"
  /// The default is an unknown meaning: an opaque number with no better direction.
  Measure meaning = {.name = "", .better = Better::neither};

  bool is_known() const { return !meaning.name.empty(); }
  bool lower_is_better() const { return meaning.better == Better::lower; }
  bool is_fraction() const { return meaning.fraction; }

  /// Returns "dev" for "dev/f1", or "" for a name without a split.
  std::string split() const {
    return name.substr(0, name.find('/') == std::string::npos ? 0 : name.find('/'));
  }
  /// Returns "f1" for "dev/f1" and "f1/PER" for "dev/f1/PER".
  std::string measure_name() const {
    return name.substr(name.find('/') == std::string::npos ? 0 : name.find('/') + 1);
  }
  /// Returns "PER" for "test/f1/PER", a member of the family "f1/{label}"; nullopt for other metrics.
  std::optional<std::string> key() const { return key_in_name(meaning, measure_name()); }
  /// Returns "F1", or "F1 of PER" for a member of a family.
  std::string title() const {
    const std::optional<std::string> one = key();
    if (one) return (meaning.title.empty() ? family_name(meaning) : meaning.title) + " of " + *one;
    return meaning.title.empty() ? measure_name() : meaning.title;
  }
};

}  // namespace encore
