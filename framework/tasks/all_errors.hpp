// AllErrors: several steps that may each fail alone, so that the user sees all errors of all files at once.
// Place in the flow: read_set.cpp for the files of a set, task_sets.cpp for the sets of a run.
#pragma once

#include <string>

#include <encore/error.hpp>

#include "config/error.hpp"

namespace encore {

class AllErrors {
 public:
  /// Calls `work`, and keeps its Error. A ConfigError, which has a place in the experiment, passes.
  template <class Work>
  void collect(const Work& work) {
    try {
      work();
    } catch (const ConfigError&) {
      throw;
    } catch (const Error& error) {
      if (text_.find(error.what()) == std::string::npos)  // two sets may fail for the same reason
        text_ += (text_.empty() ? "" : "\n") + std::string(error.what());
    }
  }
  /// Throws one Error with the messages of all, a line for each.
  void require_none() const {
    if (!text_.empty()) throw Error(text_);
  }

 private:
  std::string text_;
};

}  // namespace encore
