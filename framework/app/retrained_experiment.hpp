// RetrainedExperiment: the experiment of a run once more, with more data, as the text of an experiment file.
// It says what the run's own file, base files, overrides and sweep said together; defaults are left out, so
// that they count as defaults again. Place in the flow: `exp retrain` plans it as `exp run` plans a file.
#pragma once

#include <string>
#include <vector>

#include "record/specification.hpp"
#include "store/store.hpp"

namespace encore {

struct RetrainWishes {
  std::string name;                           ///< of the new run
  std::vector<std::string> with;              ///< absolute paths
  double held_out = 0.0;                      ///< data.held_out; 0: none
  bool from_scratch = false;                  ///< not from the run's weights
  std::vector<std::string> plugin_path = {};  ///< absolute; none: no such line
};

/// data.held_out of a run; 0: none.
double held_out_share(const Specification& specification);
/// What its data.more names.
std::vector<std::string> added_files(const Specification& specification);

std::string retrained_text(Store& store, const RunRow& run, const Specification& specification,
                           const RetrainWishes& wishes);

}  // namespace encore
