// SPDX-License-Identifier: BSD-3-Clause
// Parses train.select, "max dev/f1": the measure on dev by which a run chooses its best checkpoint. It checks
// what it can before anything starts, by the measures that a task declares (encore/measure.hpp).
// across_tables.cpp checks with it, experiment.cpp parses. Runs store the text, so its form must not change.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <encore/measure.hpp>

namespace encore::config {

struct ManifestOffer;

/// Returns the measure that has the value called `name` ("f1"), by its own name or because its family
/// "f1/{label}" has such a member ("f1/PER"). Returns null if there is none.
const Measure* measure_of(const std::vector<Measure>& measures, std::string_view name);

/// Returns nothing if a run of this task may select by `text`, otherwise `must be ...` or `names ...`, which
/// follows the option's name. It accepts measures that only some data have (a family, or one that is not
/// `always` there): the worker checks these when it checks the run.
std::optional<std::string> selection_problem(const std::string& text, const ManifestOffer& task);
/// As selection_problem() of a task, but with the measures of an application, which messages call `subject`.
std::optional<std::string> selection_problem(const std::string& text, const std::vector<Measure>& measures,
                                             const std::string& subject);

/// The rule that chooses the best checkpoint: `select = "max dev/f1"`.
struct Selection {
  bool maximize = true;
  std::string metric;  ///< "dev/f1"

  /// Returns "f1", for measure_of().
  std::string_view measure() const { return std::string_view(metric).substr(metric.find('/') + 1); }
};

/// Parses a text for which selection_problem() returns nothing.
Selection parse_selection(const std::string& text);

}  // namespace encore::config
