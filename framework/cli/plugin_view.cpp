// See plugin_view.hpp.
#include "cli/plugin_view.hpp"

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "cli/access.hpp"
#include "config/experiment_file.hpp"

namespace encore {

void add_plugin_view_options(CommandLine& line) {
  add_backend_options(line);
  line.options()("file", boost::program_options::value<std::string>()->value_name("FILE"),
                 "an experiment file, whose plugin_path is searched first");
}

PluginView read_plugin_view(const CommandLine& line) {
  const Programs programs = installed_programs();
  PluginView view;
  view.backend = backend_of(line, programs);
  require_backend(view.backend);
  std::vector<std::filesystem::path> of_file;
  if (line.has("file")) of_file = plugin_folders(load_experiment_file(line.text("file")));
  view.folders = plugin_search_path(of_file, line.texts("plugin-path"), programs, view.backend);
  view.catalogue = Catalogue::survey(view.folders, fingerprint_of(programs, view.backend));
  view.catalogue.require_all_built();
  return view;
}

nlohmann::ordered_json plugin_json(const Manifest& manifest) {
  nlohmann::ordered_json offers = nlohmann::ordered_json::array();
  for (const ManifestOffer& offer : manifest.offers)
    offers.push_back(nlohmann::ordered_json(offer_to_json(offer)));
  return {{"name", manifest.name},
          {"version", manifest.version},
          {"file", manifest.library_path().string()},
          {"sha256", sha256_of_file(manifest.library_path())},
          {"fingerprint", manifest.fingerprint},
          {"offers", offers}};
}

}  // namespace encore
