// SPDX-License-Identifier: BSD-3-Clause
// Refusal: the exception for a request that is answered with an error. It has an HTTP status and a reason
// that says what to do. requests.cpp, answers.cpp, serve_monitor.cpp and service.cpp throw it;
// Service::refuse() turns it into the response. Clients decide by the status, so it must fit what routes.cpp
// documents; the reason may change.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <encore/error.hpp>

namespace encore::serve {

/// An error for the client, not for the operator: it is never logged as a fault of the server.
class Refusal : public Error {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  /// `fields` are headers of the HTTP response, such as {"Retry-After", "1"}.
  Refusal(int status, const std::string& reason, Fields fields = {})
      : Error(reason), status_(status), fields_(std::move(fields)) {}
  int status() const { return status_; }
  const Fields& fields() const { return fields_; }

 private:
  int status_;
  Fields fields_;
};

}  // namespace encore::serve
