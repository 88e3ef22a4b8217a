// SPDX-License-Identifier: BSD-3-Clause
// write_event: an event in JSON as an older or newer program may write it, or none.
#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>

#include "record/spool.hpp"

namespace encore::testing {

/// `body` is an object; the type and a time are added.
inline void write_event(record::SpoolWriter& spool, const std::string& type,
                        nlohmann::json body = nlohmann::json::object()) {
  body["type"] = type;
  body["time"] = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  spool.event_text(body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace encore::testing
