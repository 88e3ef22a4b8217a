// Refusal: a request whose answer is an error, with the status of HTTP and a reason that says what to
// do.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <encore/error.hpp>

namespace encore {

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

}  // namespace encore
