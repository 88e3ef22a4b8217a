// SPDX-License-Identifier: BSD-3-Clause
// Makes a bundle: rows of these runs in a database of its own, their folders, their data if that is
// wanted, the report, and the metadata that lists all of it. Equal runs give equal bytes. Place in the flow:
// cli/bundle_verb.cpp chooses the runs and their files. Read next: bundle_index.hpp for the layout.
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

struct PackTask {
  std::vector<store::RunRow> runs = {};
  std::vector<std::string> searches = {};  ///< names of searches whose decisions are packed too
  std::string subject = {};                ///< "run quickstart"
  std::string licence = {};
  std::string author = {};
  std::string encore = {};  ///< the version of this program
  PackChoice choice = {};
  std::string report = {};           ///< report of these runs as HTML; empty: none
  config::Catalogue catalogue = {};  ///< the types of this installation
  std::function<void(std::size_t files, std::size_t all)> progress = {};
};

struct PackedBundle {
  archive::BundleIndex index;
  std::vector<std::string> parents;    ///< names of the runs that others start from; they are packed as well
  std::vector<std::string> hidden;     ///< runs without their private examples
  std::vector<std::string> not_ended;  ///< runs that were not completed
};

/// Writes the bundle. Throws Error, and leaves no file, if a run is training, if a file of the record is
/// missing or changed, or if the rows of a run contradict its specification or its spools.
PackedBundle pack_bundle(store::Store& store, const PackTask& task, const std::filesystem::path& target);

}  // namespace encore::bundle
