// See started_event.hpp.
#include "worker/started_event.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "worker/environment.hpp"

namespace encore {
namespace {

/// A histogram of more bins could not be read in a report.
constexpr std::int64_t most_bins = 32;

nlohmann::json length_histogram(const EncodedSet& set) {
  const std::int64_t longest = std::max<std::int64_t>(set.report.longest, 1);
  std::int64_t width = 1;
  while (width * most_bins < longest) width *= 2;
  std::vector<std::int64_t> counts(static_cast<std::size_t>((longest + width - 1) / width), 0);
  for (const std::int32_t length : set.lengths())
    if (length > 0) ++counts[static_cast<std::size_t>((length - 1) / width)];
  return {{"width", width}, {"counts", counts}};
}

nlohmann::json label_counts(const EncodedSet& set, const std::vector<std::string>& labels) {
  std::vector<std::int64_t> counts(labels.size(), 0);
  std::int64_t unseen = 0;
  for (const Example& example : set.examples)
    for (const std::int32_t row : example.first_pieces) {
      const std::int32_t label = example.targets[static_cast<std::size_t>(row)];
      if (label < 0)
        ++unseen;
      else
        ++counts[static_cast<std::size_t>(label)];
    }
  nlohmann::json by_name = nlohmann::json::object();
  for (std::size_t i = 0; i < labels.size(); ++i) by_name[labels[i]] = counts[i];
  return {{"words", by_name}, {"unseen", unseen}};
}

nlohmann::json data_description(const Task& task) {
  nlohmann::json sets = nlohmann::json::object();
  for (const Split split : {Split::train, Split::dev, Split::test})
    if (task.has(split)) sets[name_of(split)] = set_description(task.set(split), task.labels());
  return sets;
}

/// "encoder.0.attention.qkv.weight" belongs to "encoder.0.attention", "head.weight" to "head".
std::string layer_of(const std::string& path) {
  std::size_t parts = path.starts_with("encoder.") ? 3 : 1, end = 0;
  for (; parts > 0 && end != std::string::npos; --parts) end = path.find('.', end + (end > 0 ? 1 : 0));
  return path.substr(0, end);
}

nlohmann::json layer_counts(const Model& model) {
  std::map<std::string, std::int64_t> counts;
  for (const ParameterSlice& slice : model.parameters().slices()) counts[layer_of(slice.path)] += slice.size;
  return counts;
}

}  // namespace

nlohmann::json set_description(const EncodedSet& set, const std::vector<std::string>& labels) {
  const EncodeReport& report = set.report;
  return {{"examples", set.examples.size()},
          {"tokens", report.rows},
          {"longest", report.longest},
          {"unknown_pieces", report.unknown_pieces},
          {"cut_sentences", report.cut_sentences},
          {"cut_words", report.cut_words},
          {"cut_entities", report.cut_entities},
          {"lengths", length_histogram(set)},
          {"labels", label_counts(set, labels)}};
}

nlohmann::json started_event(Session& session, int threads) {
  const Model& model = session.model();
  const auto& plugins = session.registry().plugins();
  nlohmann::json parts = nlohmann::json::array();
  for (const PartCount& part : model.parameter_counts())
    parts.push_back({{"part", part.part}, {"parameters", part.parameters}});
  return {{"numeric_environment", numeric_environment(model.device(), name_of(model.precision()), plugins)},
          {"host", host_description()},
          {"build", build_description()},
          {"plugins", describe_plugins(plugins)},
          {"threads", threads},
          {"pinning", pinning_of(threads)},
          {"parameters", model.parameters().count()},
          {"parameter_parts", parts},
          {"parameter_layers", layer_counts(model)},
          {"vocabulary_size", session.tokenizer().vocabulary().size()},
          {"labels", session.task().labels()},
          {"data", data_description(session.task())}};
}

}  // namespace encore
