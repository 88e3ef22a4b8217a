// SPDX-License-Identifier: BSD-3-Clause
// item_json(): an item of a review queue for programs, as `exp review --json` prints it and the routes
// /v1/review/... of `exp serve` send it. Both must stay equal. Members may be added, none renamed.
#pragma once

#include <nlohmann/json.hpp>

#include "review/queue_items.hpp"

namespace encore::review {

/// Whether the opinions of others are included: a reviewer must not see them before the own decision.
enum class Opinions : std::uint8_t { hidden, shown };

nlohmann::ordered_json item_json(const Item& item, Opinions opinions);
/// {"waiting", "done", "seen": {"answer", "review", "refuse"}}
nlohmann::ordered_json counts_json(const QueueCounts& counts);

}  // namespace encore::review
