// SPDX-License-Identifier: BSD-3-Clause
// AllErrors runs several steps that may each fail, and throws one Error with all messages, so that the user
// sees the errors of all files at once. read_set.cpp uses it for the files of a set, task_sets.cpp for the
// sets of a run. Messages keep their order.
#pragma once

#include <string>

#include <encore/error.hpp>

#include "config/error.hpp"

namespace encore::tasks {

class AllErrors {
 public:
  /// Calls `work` and records its Error. A ConfigError, which refers to a place in the experiment, is not
  /// caught.
  template <class Work>
  void collect(const Work& work) {
    try {
      work();
    } catch (const config::ConfigError&) {
      throw;
    } catch (const Error& error) {
      if (text_.find(error.what()) == std::string::npos)  // two sets may fail for the same reason
        text_ += (text_.empty() ? "" : "\n") + std::string(error.what());
    }
  }
  /// Throws one Error with all recorded messages, one per line; returns if there is none.
  void require_none() const {
    if (!text_.empty()) throw Error(text_);
  }

 private:
  std::string text_;
};

}  // namespace encore::tasks
