// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "manifest": mutated manifests of plugins, the JSON files in which `exp` reads what a plugin
// offers, are read, compared, and written as pages and JSON (config/catalogue.hpp, config/markdown.hpp).
// fuzz.cpp calls the target; read target.hpp first.
#include <nlohmann/json.hpp>

#include "config/catalogue.hpp"
#include "config/markdown.hpp"
#include "config/option_text.hpp"
#include "fuzz/scratch.hpp"
#include "fuzz/target.hpp"
#include "unit/config/sample_catalogue.hpp"

namespace encore::fuzz {

namespace {

class ManifestTarget final : public Target {
 public:
  std::string name() const override { return "manifest"; }

  std::vector<std::string> corpus() override {
    const config::Catalogue catalogue = sample::catalogue();
    return {config::manifest_to_json(catalogue.manifests().front()).dump()};
  }

  void mutate(std::string& input, const std::vector<std::string>&, Random& random) override {
    mutate_json(input, random);
  }

  void take(const std::string& input) override {
    write_bytes(folder_ / "a.json", input);
    config::Catalogue::survey({(folder_ / "a.json").parent_path()}, "sdk=1;");
    const config::Manifest manifest = config::load_manifest(folder_ / "a.json");
    config::manifest_difference(manifest, config::manifest_from_json(config::manifest_to_json(manifest)));
    config::markdown_plugin(manifest);
    config::Catalogue catalogue;
    catalogue.add(manifest);
    for (const config::ManifestOffer& offer : manifest.offers)
      for (const Option& option : offer.options.options()) config::default_text(option);
  }

 private:
  Scratch folder_;
};

}  // namespace

std::unique_ptr<Target> make_manifest_target() {
  return std::make_unique<ManifestTarget>();
}

}  // namespace encore::fuzz
