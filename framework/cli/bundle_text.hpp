// SPDX-License-Identifier: BSD-3-Clause
// OpenedBundle: opens a bundle with a progress line; print_bundle() and bundle_json(): its values in the
// three classes of bundle/evidence.hpp. bundle_verb.cpp, bundle_show.cpp, bundle_verify.cpp and db_merge.cpp
// use them. A value must never be shown in a better class than it has: "recomputed" means on this machine.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/verify.hpp"
#include "archive/unpack_bundle.hpp"
#include "bundle/check_bundle.hpp"
#include "cli/console.hpp"
#include "config/catalogue.hpp"
#include "store/store.hpp"

namespace encore::cli {

/// Returns the types of this build and of the folders of --plugin-path.
config::Catalogue catalogue_here(const std::vector<std::string>& plugin_path = {});

/// An unpacked and checked bundle.
class OpenedBundle {
 public:
  /// Unpacks and checks an archive. Throws UsageError if there is no such file, Error as unpacking and
  /// checking do.
  OpenedBundle(app::Events& events, const std::string& archive,
               const std::vector<std::string>& plugin_path = {});

  const archive::UnpackedBundle& unpacked() const { return *unpacked_; }
  const archive::BundleIndex& index() const { return unpacked_->index(); }
  void keep() const { unpacked_->keep(); }
  const bundle::CheckedBundle& checked() const { return checked_; }
  const std::string& archive() const { return archive_; }

 private:
  std::string archive_;
  std::unique_ptr<archive::UnpackedBundle> unpacked_;
  bundle::CheckedBundle checked_;
};

/// Returns the plugins of the newest attempt that recorded any.
std::vector<store::PluginRow> plugins_of(store::Store& store, const store::RunRow& run);
/// The recorded states of Encore and of the repositories of experiment files, each once.
struct AllCode {
  std::vector<record::SourceVersion> sources;    ///< of Encore
  std::vector<store::CodeVersion> repositories;  ///< of experiment files: commit and diff
};
AllCode all_code(store::Store& store, const std::vector<store::RunRow>& runs);
/// Returns, for example, "run quickstart, 12 files, 1.2 MB".
std::string bundle_line(const archive::BundleIndex& index);
/// Prints the bundle, then its values by their evidence: recomputed, proved by training again, claimed.
/// `is_verified`: training again follows at once. The store holds the checked rows.
void print_bundle(Console& console, const OpenedBundle& bundle, store::Store& store,
                  const std::vector<store::RunRow>& runs, bool is_verified);
/// Returns what print_bundle() prints as JSON, with every claimed value.
nlohmann::ordered_json bundle_json(const OpenedBundle& bundle, store::Store& store,
                                   const std::vector<store::RunRow>& runs);
/// Writes a report of the checked rows as HTML, and prints its path unless quiet. The report in the bundle is
/// a claim.
void write_bundle_report(Console& console, store::Store& store, const std::string& file, bool quiet);
}  // namespace encore::cli
