// Which runs a word on the command line means, where several may be meant. Place in the flow: `exp compare`.
#pragma once

#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

/// Of each word the first that fits: a run's name or id; a sweep's name: its runs; a pattern with * ? or []:
/// runs whose names match; the beginning of names; the beginning of one id or of one group. Each run once, in
/// the order of the words, within a word the oldest first. Throws UnknownRun.
std::vector<RunRow> select_runs(Store& store, const std::vector<std::string>& words);

}  // namespace encore
