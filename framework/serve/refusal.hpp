// SPDX-License-Identifier: BSD-3-Clause
// Refusal: the exception for a request that is answered with an error. It has an HTTP status and a reason
// that says what to do. requests.cpp, answers.cpp and service.cpp throw it; Service::refuse() makes the
// answer of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <encore/error.hpp>

namespace encore::serve {

class Refusal : public Error {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  /// `fields`: of the answer's head.
  Refusal(int status, const std::string& reason, Fields fields = {})
      : Error(reason), status_(status), fields_(std::move(fields)) {}
  int status() const { return status_; }
  const Fields& fields() const { return fields_; }

 private:
  int status_;
  Fields fields_;
};

}  // namespace encore::serve
