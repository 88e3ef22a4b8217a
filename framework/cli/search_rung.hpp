// Where on the way of a run a search judges it. A run that was trained further, before the search asked for
// it or by another search, is judged as if it had been stopped there.
#pragma once

#include <cstdint>
#include <string>

#include "plan/search/history.hpp"
#include "store/store.hpp"

namespace encore {

/// The step at which a worker ends that is asked to train `length` epochs, or steps, of the run. select: "max
/// dev/f1", by which the run is scored.
std::int64_t rung_step(Store& store, const RunRow& run, const search::SearchOptions& options,
                       const std::string& select, std::int64_t length);

/// Whether the run is complete and was not trained beyond that length: by itself it ends there or before.
bool ends_by(Store& store, const RunRow& run, const search::SearchOptions& options, const std::string& select,
             std::int64_t length);

}  // namespace encore
