// SPDX-License-Identifier: BSD-3-Clause
// The data sets of an application and the share of the development set for fitting. Read application_sets.hpp
// first.
#include "apply/application_sets.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/nearest.hpp"
#include "config/error.hpp"
#include "infer/setup.hpp"
#include "plugin_host/reader_settings.hpp"
#include "record/text_hash.hpp"
#include "tasks/data_split.hpp"
#include "tasks/new_examples.hpp"
#include "tasks/read_set.hpp"

namespace encore::apply {

tasks::RecordSets read_sets(const Application& application) {
  const config::DataTable& data = application.description().data;
  const config::PluginTable& reader = data.reader;
  const tasks::FieldRemedy remedy = [&](std::span<const InputText> files,
                                        const std::vector<std::string>& fields) {
    const Offer& offer = application.registry().offer(Kind::reader, reader.type);
    return plugin_host::reader_remedy(offer,
                                      plugin_host::settings_that_give(offer, reader.options, files, fields));
  };
  const tasks::SetFiles files(application.reader(), application.fields(), remedy, data,
                              infer::content_hashes(application.specification()), {}, false);
  tasks::RecordSets sets;
  for (const data::Split split : data::all_splits) {
    const bool is_needed = split != data::Split::train || application.learns();
    if (is_needed && files.has(split)) files.read_into(split, sets);
  }
  if (!application.learns()) sets[tasks::index_of(data::Split::train)].reset();
  return sets;
}

std::vector<std::string> add_new_examples(const Application& application, tasks::RecordSets& sets) {
  const config::DataTable& data = application.description().data;
  if (data.more.empty()) return {};
  for (const auto& [step, model] : application.models())
    if (model->fields().structure != application.fields().structure ||
        model->fields().optional != application.fields().optional)
      throw config::ConfigError(
          "data.more", "the application reads the fields " + quoted_list(application.fields().structure) +
                           ", and the model of step \"" + step + "\" " +
                           quoted_list(model->fields().structure) +
                           "; only if both read the same fields do they hold out the same examples");
  const tasks::ReadSet added = tasks::read_set(application.reader(), data.more, "new examples");
  for (std::size_t i = 0; i < data.more.size(); ++i) {
    const std::string role = record::numbered_file(record::added_role, i);
    record::require_planned(application.specification().data.at(role), role, added.sha256.at(i));
  }
  tasks::NewExamples examples(application.fields(), data.held_out);
  for (const data::Split split : tasks::held_out_splits)
    if (const std::optional<Records>& set = sets[tasks::index_of(split)]) examples.score(*set);
  Records& dev = *sets[tasks::index_of(data::Split::dev)];
  return tasks::with_file(data.more.front(), [&] {
    tasks::require_fields(added.records, application.fields());
    Records more = examples.fitted_on(added.records, config::compared_share(data.held_out));
    if (more.size() > 0) tasks::require_same_fields(dev, more);
    std::vector<std::string> notes = std::move(more.notes);
    std::vector<Records> both;
    both.push_back(std::move(dev));
    if (more.size() > 0) both.push_back(std::move(more));
    dev = tasks::joined(both);
    return notes;
  });
}

const Records::Texts* labels_in(const Records& records, const TaskFields& fields) {
  if (fields.truth.size() != 1) return nullptr;
  for (const Records::Field& field : records.fields())
    if (field.name == fields.truth.front()) return std::get_if<Records::Texts>(&field.values);
  return nullptr;
}

std::vector<std::uint64_t> content_hashes(const Records& records, const TaskFields& fields) {
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i < records.size(); ++i) hashes.push_back(tasks::content_hash(records, i, fields));
  return hashes;
}

std::vector<bool> fit_share(const std::vector<std::uint64_t>& hashes, const Records::Texts* labels,
                            double share) {
  std::map<std::uint64_t, std::string> label_of_hash;  // of equal records the first label by bytes
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::string label = labels == nullptr ? "" : (*labels)[i];
    const auto [known, is_new] = label_of_hash.emplace(hashes[i], label);
    if (!is_new) known->second = std::min(known->second, label);
  }
  std::map<std::string, std::vector<std::uint64_t>> by_label;  // each list ascends
  for (const auto& [hash, label] : label_of_hash) by_label[label].push_back(hash);
  std::map<std::uint64_t, bool> is_fit;
  for (const auto& [label, list] : by_label) {
    // The lowest hash itself is not a fair draw, because the lowest of many is always small.
    const double draw = record::share_of(std::to_string(list.front()));
    const double count = std::floor(static_cast<double>(list.size()) * share + draw);
    for (std::size_t i = 0; i < list.size(); ++i) is_fit[list[i]] = static_cast<double>(i) < count;
  }
  std::vector<bool> result;
  for (const std::uint64_t hash : hashes) result.push_back(is_fit.at(hash));
  return result;
}

}  // namespace encore::apply
