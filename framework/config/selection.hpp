// train.select, "max dev/f1": by which measure on dev a run chooses its best checkpoint. What can be said
// before anything starts is said here, from the measures that a task declares (encore/measure.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <encore/measure.hpp>

namespace encore {

struct ManifestOffer;

/// The measure that has the value called `name` ("f1"), by its own name or because its family "f1/{label}"
/// has such a member ("f1/PER"); null where there is none.
const Measure* measure_of(const std::vector<Measure>& measures, std::string_view name);

/// Nothing when a run of this task may select by `text`, otherwise `must be ...`, `names ...` to be put
/// behind the option's name. What only some data have (a family, a measure that is not `always` there) is
/// accepted: whether these data have it is seen by the worker, when it checks the run.
std::optional<std::string> selection_problem(const std::string& text, const ManifestOffer& task);

/// Which checkpoint is the best one: `select = "max dev/f1"`.
struct Selection {
  bool maximize = true;
  std::string metric;  ///< "dev/f1"

  /// "f1", for measure_of.
  std::string_view measure() const { return std::string_view(metric).substr(metric.find('/') + 1); }
};

/// Of a text without a selection_problem.
Selection parse_selection(const std::string& text);

}  // namespace encore
