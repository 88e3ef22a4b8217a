// SPDX-License-Identifier: BSD-3-Clause
// pack_bundle() makes a bundle: rows of these runs in a database of its own, their folders, their data if
// that is wanted, the report, and the metadata that lists all of it (ro_crate_text()). Equal runs give equal
// bytes. Place in the flow: `exp bundle` (cli/bundle_verb.cpp) chooses the runs and their files and calls it.
// Read next: archive/bundle_index.hpp for the layout, which readers of earlier versions know.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "archive/bundle_index.hpp"
#include "bundle/packed_files.hpp"
#include "config/catalogue.hpp"
#include "store/store.hpp"

namespace encore::bundle {

/// What a bundle is to hold.
struct PackTask {
  std::vector<store::RunRow> runs = {};
  std::vector<std::string> searches = {};  ///< names of searches whose decisions are packed too
  std::string subject = {};                ///< what the bundle is about, for readers: "run quickstart"
  std::string licence = {};                ///< as the user gave it
  std::string author = {};                 ///< as the user gave it
  std::string encore = {};                 ///< the version of this program
  PackChoice choice = {};                  ///< which files of the runs it takes
  std::string report = {};                 ///< report of these runs as HTML; empty: none
  config::Catalogue catalogue = {};        ///< the types of this installation
  std::function<void(std::size_t files, std::size_t all)> progress = {};  ///< after each file; may be empty
};

/// What was packed, so that the verb can report it.
struct PackedBundle {
  archive::BundleIndex index;
  std::vector<std::string> parents;    ///< names of the runs that others start from; they are packed as well
  std::vector<std::string> hidden;     ///< runs without their private examples
  std::vector<std::string> not_ended;  ///< runs that were not completed
};

/// Writes the bundle to the file `target`. Throws Error, and leaves no file, if a run is training, if a file
/// of the record is missing or changed, or if the rows of a run contradict its specification or its spools.
PackedBundle pack_bundle(store::Store& store, const PackTask& task, const std::filesystem::path& target);

/// Returns the metadata of a bundle as RO-Crate 1.1 (JSON-LD with the words of schema.org,
/// https://w3id.org/ro/crate/1.1): its files, the runs that made them, the program, and the data they were
/// trained on. `store` is that of the bundle. archive/bundle_index.hpp reads back what Encore needs of it.
/// Equal runs and files give equal text, because the time in it is that of the newest run.
std::string ro_crate_text(store::Store& store, const archive::BundleIndex& index);

}  // namespace encore::bundle
