// SPDX-License-Identifier: BSD-3-Clause
// confirmed(): asks the user for consent before a verb removes something, such as in removal.cpp and
// labels.cpp. Read next: app.hpp.
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
