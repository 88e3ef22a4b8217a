// SPDX-License-Identifier: BSD-3-Clause
// Manifest is what a plugin states about itself beside its shared object. Both programs, `exp` and the
// worker, read it before anything is loaded; `exp` never loads a plugin. The build writes the JSON
// (plugin_host/manifest_tool.cpp) and later versions read it, so members keep their names and new ones are
// optional. Read next: catalogue.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <encore/options.hpp>
#include <encore/plugin.hpp>

namespace encore::config {

/// Returns the kind with this name, such as "layer". Throws Error for an unknown kind.
Kind kind_from_name(const std::string& name);
/// Returns the names of all kinds, for messages.
std::vector<std::string> names_of_kinds();
/// Returns "a layer", "an optimizer".
std::string with_article(Kind kind);
/// Returns the kind and the name: layer "self_attention".
std::string title_of(Kind kind, const std::string& name);

/// A column that a head reads, or an output that it gives. Sizes are numbers, or "width", "classes" or
/// "vocabulary" of the model.
struct HeadValue {
  std::string name;
  Space space = Space::tokens;
  ColumnType type = ColumnType::integers;
  std::string width = "1";  ///< values per row
  std::string below = {};   ///< of a column of integers: the exclusive upper bound; empty: no bound
  bool on_request = false;  ///< of an output: OutputRule::on_request

  friend bool operator==(const HeadValue&, const HeadValue&) = default;
};

/// What a head with its default options needs from a task whose column "targets" is over one of the spaces in
/// `targets`.
struct HeadForm {
  std::vector<Space> targets = {};
  std::vector<Space> reads = {};  ///< row sets whose states the head gets
  std::vector<HeadValue> columns = {};
  std::vector<HeadValue> optional_columns = {};  ///< columns that the head reads if the task has them
  std::vector<HeadValue> outputs = {};
  std::vector<std::string> ties = {};  ///< paths of parameters of other parts that it uses
  bool couples_sequences = false;

  friend bool operator==(const HeadForm&, const HeadForm&) = default;
};

/// A type that a plugin offers: Offer (encore/plugin.hpp) without the code.
struct ManifestOffer {
  Kind kind = Kind::layer;
  std::string name;
  int version = 1;
  Schema options = {};
  std::string summary = {};             ///< one line; empty where the type declares none
  TaskFields needs = {};                ///< of a task: the fields of records that it reads
  std::vector<Measure> measures = {};   ///< of a task or a step
  std::string select = {};              ///< of a task: the default of train.select; of a step: app.select
  bool asks_model = false;              ///< of a step: its table names a run with the option `model`
  std::vector<std::string> gives = {};  ///< of a reader: the fields of its records
  std::vector<OptionalField> may_give = {};  ///< of a reader: those that its options add
  std::vector<AdoptedModel> adopted = {};    ///< of a task: pretrained models that it can import
  std::vector<HeadForm> forms = {};          ///< of a head, in its manifest: plugin_host/loader.hpp
};

/// Returns the names of the fields that options of the reader add.
std::vector<std::string> optional_names(const ManifestOffer& reader);
/// Returns the fields that the task needs and that the reader does not give under any options.
std::vector<std::string> missing_fields(const ManifestOffer& task, const ManifestOffer& reader);
/// The same under these options, as far as the reader declares it: a field that it gives by default counts,
/// even if an option replaces it.
std::vector<std::string> missing_fields(const ManifestOffer& task, const ManifestOffer& reader,
                                        const Options& options);

struct Manifest {
  std::string name;
  std::string version;
  std::string fingerprint;  ///< key=value; text
  std::string library;      ///< file name of the shared object, in the manifest's folder
  std::vector<ManifestOffer> offers;
  std::filesystem::path file = {};  ///< the manifest itself; not part of its JSON

  std::filesystem::path library_path() const { return file.parent_path() / library; }
};

/// Returns {"kind", "name", "version", "summary", "options"}; for a task also {"needs": {"structure",
/// "truth", "optional"}, "measures", "select", "adopted"}, for a step {"measures", "select", "asks_model"},
/// for a reader {"gives", "may_give"}, for a head
/// {"forms": [{"targets", "reads", "columns", "optional_columns", "outputs", "ties", "couples_sequences"}]}.
/// Empty lists of optional things are left out.
nlohmann::json offer_to_json(const ManifestOffer& offer);

/// Returns {"format": 2, "name", "version", "fingerprint", "library", "offers"}.
nlohmann::json manifest_to_json(const Manifest& manifest);
/// Throws Error that names the missing or wrong field.
Manifest manifest_from_json(const nlohmann::json& json);
/// Throws Error that names the file.
Manifest load_manifest(const std::filesystem::path& file);

/// Returns where a manifest differs from its library, by name and with both values; empty when they agree.
/// `library` is what make_manifest (plugin_host/loader.hpp) reads from the library.
std::string manifest_difference(const Manifest& manifest, const Manifest& library);

/// Checks a plugin file without loading it: whether it is a whole ELF file. The control program never loads a
/// plugin, and dlopen of a file that was cut while it was copied can end the process.
/// Returns `p.so: is cut off at 4096 of 71320 bytes; build it again or copy it whole`; empty for a good file.
std::string shared_object_problem(const std::filesystem::path& file);

}  // namespace encore::config
