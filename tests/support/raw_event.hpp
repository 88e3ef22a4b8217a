// SPDX-License-Identifier: BSD-3-Clause
// write_event(): appends an event to a spool as JSON text, so that a test can write events of older or newer
// versions, and invalid ones, which the structs of record/events.hpp cannot express. Tests of the store, the
// runner and reports use it.
#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>

#include "record/spool.hpp"

namespace encore::testing {

/// Appends `body`, which must be an object, with the members "type" and "time" (now) added.
inline void write_event(record::SpoolWriter& spool, const std::string& type,
                        nlohmann::json body = nlohmann::json::object()) {
  body["type"] = type;
  body["time"] = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  spool.event_text(body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace encore::testing
