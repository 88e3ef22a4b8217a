// Loads what a specification names.
#include "train/setup.hpp"

#include <nlohmann/json.hpp>

#include "config/fingerprint.hpp"
#include "config/manifest.hpp"
#include "data/hash.hpp"
#include "data/vocabulary.hpp"
#include "record/crash_line.hpp"

namespace encore {

LoadedExperiment load_experiment(const Specification& specification) {
  const std::vector<std::filesystem::path> folders(specification.plugin_folders.begin(),
                                                   specification.plugin_folders.end());
  const Catalogue catalogue = Catalogue::load(folders, host_fingerprint());
  LoadedExperiment loaded{make_experiment(specification.config, catalogue), {}};
  loaded.registry.load(catalogue, needed_types(loaded.experiment));
  return loaded;
}

std::unique_ptr<Tokenizer> load_tokenizer(const LoadedExperiment& loaded,
                                          const std::filesystem::path& run_folder,
                                          const std::function<WordCounts()>& word_counts) {
  const TokenizerTable& table = loaded.experiment.tokenizer;
  std::unique_ptr<Tokenizer> tokenizer =
      with_key(table, [&] { return loaded.registry.make_tokenizer(table.type, table.options); });
  const std::string text =
      work_text("vocabulary", "", loaded.registry.owner_text(Kind::tokenizer, table.type));
  const CurrentWork work(text.c_str());
  const std::filesystem::path kept = run_folder / "vocab.txt";
  if (std::filesystem::exists(kept))
    tokenizer->load(load_vocabulary(kept));
  else if (table.options.has("vocab"))
    tokenizer->load(load_vocabulary(table.options.text("vocab")));
  else
    tokenizer->train(word_counts());
  return tokenizer;
}

std::string encoding_of(const TokenizerTable& table, const Registry& registry, const Tokenizer& tokenizer,
                        const Specification& specification) {
  nlohmann::json options = nlohmann::json::object();
  for (const auto& [name, value] : table.options.values())
    if (!specification.data.contains(name))  // a file counts by its content
      std::visit([&](const auto& held) { options[name] = held; }, value);
  Sha256 vocabulary;
  for (const std::string& piece : tokenizer.vocabulary()) vocabulary.add(piece + "\n");
  return nlohmann::json{{"type", table.type},
                        {"version", table.version},
                        {"plugin", registry.library_sha256(Kind::tokenizer, table.type)},
                        {"options", options},
                        {"vocabulary", vocabulary.hex()}}
      .dump();
}

ContentHashes content_hashes(const Specification& specification) {
  ContentHashes hashes;
  for (const auto& [role, file] : specification.data) hashes[role] = file.sha256;
  return hashes;
}

}  // namespace encore
