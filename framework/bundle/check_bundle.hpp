// SPDX-License-Identifier: BSD-3-Clause
// check_bundle() checks an unpacked bundle. It copies the rows into a database of our own schema and derives
// again each value that follows from other parts: rows from spools, settings and data from specifications,
// questions from settings. Training again proves the numbers; the rest are claims of the sender
// (evidence.hpp). Place in the flow: archive/unpack_bundle.hpp unpacks, cli/bundle_text.cpp calls this, then
// the verbs show, verify or merge the bundle. Everything that the sender wrote is untrusted.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "archive/unpack_bundle.hpp"
#include "config/catalogue.hpp"
#include "store/store.hpp"

namespace encore::bundle {

/// What the check could not prove; both are shown to the user.
struct CheckedBundle {
  /// Attempts whose spools are damaged, so that nothing supports their rows ("attempt 1 of run tiny").
  std::vector<std::string> unproved = {};
  /// The reason why the question of a run could not be computed again, by run id.
  std::map<std::string, std::string> claimed_questions = {};
};

/// Checks the bundle and replaces its database by a new one at bundle.database(). Throws Error that names the
/// archive and the parts that contradict each other. The sender's database is opened (and refused, as by
/// open_encore_database) before any of its rows is used. `origin` is the path of the archive as the user gave
/// it, for messages. `catalogue` has the types of this installation.
CheckedBundle check_bundle(const archive::UnpackedBundle& bundle, const std::string& origin,
                           const config::Catalogue& catalogue);

}  // namespace encore::bundle
