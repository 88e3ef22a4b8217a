// SPDX-License-Identifier: BSD-3-Clause
// confirmed(): asks the user for consent before a verb removes or replaces something, for removal.cpp and
// labels.cpp. Without a terminal and without -y it refuses, so that a script never removes something by
// accident. Read next: app.hpp.
#include "app/app.hpp"

#include "app/form.hpp"

namespace encore::app {

bool confirmed(const App& app, bool yes, const std::string& what, const std::string& consequence) {
  if (yes) return true;
  if (!app.events.can_ask())
    throw UsageError("cannot ask whether to " + what + ": stdin is not a terminal; pass -y to confirm");
  return app.events.agrees(what + "? " + consequence);
}

}  // namespace encore::app
