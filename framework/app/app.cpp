// Questions that app asks before something is lost.
#include "app/app.hpp"

#include "app/form.hpp"

namespace encore {

bool confirmed(const App& app, bool yes, const std::string& what, const std::string& consequence) {
  if (yes) return true;
  if (!app.events.can_ask())
    throw UsageError("this would " + what + ", and there is no terminal to ask at; -y says yes");
  return app.events.agrees(what + "? " + consequence);
}

}  // namespace encore
