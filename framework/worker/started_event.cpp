// SPDX-License-Identifier: BSD-3-Clause
// Collects the event Started from the parts of a session: host, build, model, data sets. train_verb.cpp calls
// it before the first step. Read started_event.hpp first; members of the event are stored and keep their
// names.
#include "worker/started_event.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "worker/environment.hpp"

namespace encore::worker {
namespace {

/// The most bins of a histogram of lengths that a report can show.
constexpr std::int64_t most_bins = 32;

std::int64_t longest_of(const ExampleSet& set) {
  std::int32_t longest = 1;
  for (const std::int32_t length : set.arrays().lengths) longest = std::max(longest, length);
  return longest;
}

record::LengthHistogram length_histogram(const ExampleSet& set) {
  const std::int64_t longest = longest_of(set);
  record::LengthHistogram lengths;
  while (lengths.width * most_bins < longest) lengths.width *= 2;
  lengths.counts.resize(static_cast<std::size_t>((longest + lengths.width - 1) / lengths.width));
  for (const std::int32_t length : set.arrays().lengths)
    if (length > 0) ++lengths.counts[static_cast<std::size_t>((length - 1) / lengths.width)];
  return lengths;
}

/// Returns how many rows have each label as their target; empty if the task has no classes.
std::map<std::string, std::int64_t> count_labels(const ExampleSet& set,
                                                 const std::vector<std::string>& labels) {
  std::vector<std::int64_t> counts(labels.size(), 0);
  const bool classes = set.has_column(targets_column);
  for (const std::int32_t target :
       classes ? set.columns()[set.column(targets_column)].integers : std::span<const std::int32_t>())
    if (target >= 0 && static_cast<std::size_t>(target) < counts.size())
      ++counts[static_cast<std::size_t>(target)];
  std::map<std::string, std::int64_t> by_name;
  for (std::size_t i = 0; i < labels.size(); ++i) by_name[labels[i]] = counts[i];
  return by_name;
}

/// Returns the layer of a parameter: "encoder.0.attention" for "encoder.0.attention.qkv.weight", "head" for
/// "head.weight".
std::string layer_of(const std::string& path) {
  std::size_t parts = path.starts_with("encoder.") ? 3 : 1, end = 0;
  for (; parts > 0 && end != std::string::npos; --parts) end = path.find('.', end + (end > 0 ? 1 : 0));
  return path.substr(0, end);
}

/// Returns the description of the host. With several ranks also the number of ranks, the library that
/// connects them, and all hosts.
nlohmann::json host_of(distributed::Communicator& ranks) {
  nlohmann::json host = host_description();
  if (ranks.size() == 1) return host;
  const std::vector<std::string> names = distributed::gather_texts(ranks, host["name"].get<std::string>());
  host["ranks"] = {{"count", ranks.size()}, {"library", ranks.library()}, {"hosts", names}};
  return host;
}

std::vector<record::PluginUse> uses_of(std::span<const plugin_host::LoadedPlugin> plugins) {
  std::vector<record::PluginUse> uses;
  for (const plugin_host::LoadedPlugin& plugin : plugins)
    uses.push_back({.name = plugin.name,
                    .version = plugin.version,
                    .sha256 = plugin.sha256,
                    .fingerprint = plugin.fingerprint,
                    .file = plugin.file.string()});
  return uses;
}

}  // namespace

record::SetFacts set_facts(const ExampleSet& set, const std::vector<std::string>& labels,
                           const SetDescription& description, std::int32_t unknown) {
  const std::span<const std::int32_t> ids = set.arrays().ids, target_ids = set.arrays().target_ids;
  record::SetFacts facts{
      .examples = static_cast<std::int64_t>(set.size()),
      .tokens = static_cast<std::int64_t>(ids.size() + target_ids.size()),
      .longest = longest_of(set),
      .unknown_tokens = std::ranges::count(ids, unknown) + std::ranges::count(target_ids, unknown),
      .lengths = length_histogram(set),
      .labels = count_labels(set, labels)};
  for (const auto& [name, value] : description.counts) facts.counts.push_back({name, value});
  return facts;
}

record::Started started_event(const RunParts& parts, int threads, distributed::Communicator& ranks) {
  const model::Model& model = parts.model;
  const auto& plugins = parts.registry.plugins();
  record::Started started{.numeric_environment = record::JsonText(
                              numeric_environment(model.device(), name_of(model.precision()), plugins)),
                          .host = record::JsonText(host_of(ranks)),
                          .build = record::JsonText(build_description(plugins)),
                          .threads = threads,
                          .pinning = pinning_of(threads),
                          .parameters = model.parameters().count(),
                          .vocabulary_size = static_cast<std::int64_t>(parts.tokenizer.vocabulary().size()),
                          .labels = parts.task.labels()};
  if (parts.sets != nullptr && parts.sets->max_length_follows())
    started.max_length = parts.sets->max_length();
  started.plugins = uses_of(plugins);
  for (const model::PartCount& part : model.parameter_counts())
    started.parameter_parts.push_back({.part = part.part, .parameters = part.parameters});
  for (const memory::ParameterSlice& slice : model.parameters().slices())
    started.parameter_layers[layer_of(slice.path)] += slice.size;
  for (const data::Split split : data::all_splits)
    if (parts.sets != nullptr && parts.sets->has(split))
      started.data[data::name_of(split)] =
          set_facts(parts.sets->set(split).set, started.labels, parts.sets->describe(split),
                    parts.tokenizer.special(Special::unknown));
  return started;
}

record::Started started_event(const apply::ApplicationRun& run, const Device& device, int threads) {
  const apply::Application& application = run.application();
  std::vector<plugin_host::LoadedPlugin> plugins = application.registry().plugins();
  std::set<std::string> precisions;
  for (const auto& [step, model] : application.models()) {
    precisions.insert(name_of(model->engine().model().precision()));
    for (const plugin_host::LoadedPlugin& plugin : model->engine().registry().plugins())
      if (std::ranges::find(plugins, plugin.file, &plugin_host::LoadedPlugin::file) == plugins.end())
        plugins.push_back(plugin);
  }
  std::string precision;
  for (const std::string& name : precisions) precision += (precision.empty() ? "" : ", ") + name;
  record::Started started{
      .numeric_environment = record::JsonText(numeric_environment(device, precision, plugins)),
      .host = record::JsonText(host_of(distributed::only_rank())),
      .build = record::JsonText(build_description(plugins)),
      .plugins = uses_of(application.registry().plugins()),
      .threads = threads,
      .pinning = pinning_of(threads)};
  for (const data::Split split : data::all_splits)
    if (const Records* records = run.records(split); records != nullptr)
      started.data[data::name_of(split)] = {.examples = static_cast<std::int64_t>(records->size()),
                                            .labels = run.labels(split)};
  return started;
}

}  // namespace encore::worker
