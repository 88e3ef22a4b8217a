// SPDX-License-Identifier: BSD-3-Clause
// review_items(): which answers of an application go into its review queue, and as what. The rule is in
// encore/step.hpp: a step of an application says in the field `band` whether a person must review its answer.
// Place in the flow: service.cpp has the answers of a request -> here -> review_desk.hpp. Pure functions;
// docs/guides/review.md describes the rule to users, so change both together.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/serve_messages.hpp"
#include "review/queue_items.hpp"
#include "serve/job.hpp"

namespace encore::serve {

struct ReviewIntake {
  std::vector<review::NewItem> items;
  std::map<review::Band, std::int64_t> seen;  ///< inputs by band
};

/// The request and the application that answered it.
struct ReviewedRequest {
  std::string id;   ///< of the request
  std::string run;  ///< id of the run
  const record::ServeModel& model;
};

/// Returns the items of a finished job: answers of the band `review`, and the share `audit` of the others,
/// chosen by a hash of the item's id. An answer without a valid band is left out. Throws JsonError if an
/// answer is not JSON.
ReviewIntake review_items(const ReviewedRequest& request, const Job& job, double audit);

/// Returns the id of an item: that of the request or, if it has several inputs, "ID.i" with i from 0.
std::string item_id(std::string_view request, std::size_t input, std::size_t inputs);

}  // namespace encore::serve
