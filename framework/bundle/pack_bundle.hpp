// Makes a bundle: rows of these runs in a database of its own, their folders, what they read where that is
// wanted, the report, and the metadata that lists it all. Equal runs give equal bytes. Place in the flow:
// cli/bundle_verb.cpp says which runs and what of them. Read next: bundle_index.hpp for the layout.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "archive/bundle_index.hpp"
#include "bundle/packed_files.hpp"
#include "config/catalogue.hpp"
#include "store/store.hpp"

namespace encore {

struct PackTask {
  std::vector<RunRow> runs = {};
  std::vector<std::string> searches = {};  ///< whose decisions go with them, by name
  std::string subject = {};                ///< "run quickstart"
  std::string licence = {};
  std::string author = {};
  std::string encore = {};  ///< the version of this program
  PackChoice choice = {};
  std::string report = {};   ///< of these runs, as HTML; empty: none
  Catalogue catalogue = {};  ///< the types that are here
  std::function<void(std::size_t files, std::size_t all)> progress = {};
};

struct PackedBundle {
  BundleIndex index;
  std::vector<std::string> parents;    ///< runs that others start from, and so come along; by name
  std::vector<std::string> hidden;     ///< runs whose texts were left out
  std::vector<std::string> not_ended;  ///< runs that were not completed
};

/// Throws Error, and leaves no file, where a run is being trained, where a file of the record is missing or
/// changed, and where the rows of a run are not what its specification and its spools say.
PackedBundle pack_bundle(Store& store, const PackTask& task, const std::filesystem::path& target);

}  // namespace encore
