// SPDX-License-Identifier: BSD-3-Clause
// architecture_of() draws embedding, blocks and head of a model as a flow chart, with the number of
// parameters of each. method.cpp calls it. Only a picture depends on it. Read sections.hpp first.
#include "report/sections.hpp"

#include "report/wording.hpp"

namespace encore::report {

namespace {

class Drawer {
 public:
  Drawer(const ReportData& data, const store::RunRow& run)
      : data_(data), run_(run), started_(data.started(run)) {
    if (started_ != nullptr) layers_ = started_->parameter_layers;
  }

  document::FlowChart draw(const nlohmann::json& block) {
    const nlohmann::json decoder = data_.setting(run_, "model.decoder.block");
    const bool has_decoder = decoder.is_array() && !decoder.empty();
    box(text("tokenizer.type"),
        started_ == nullptr || !started_->vocabulary_size
            ? ""
            : counted(static_cast<std::size_t>(*started_->vocabulary_size), "piece"),
        document::Tone::faint);
    box("embedding",
        with_parameters("width " + text("model.width") + ", " + text("model.positions") + " positions",
                        "embedding"),
        document::Tone::first);
    const bool alone = !has_decoder && data_.setting(run_, "model.causal") == nlohmann::json(true);
    stack(block, "model", "encoder", alone ? "decoder" : "encoder");
    if (has_decoder) stack(decoder, "model.decoder", "decoder", "decoder");
    box(text("model.head.type") + " head", with_parameters("", "head"), document::Tone::second);
    box(text("task.type"),
        started_ == nullptr || started_->labels.empty() ? "" : counted(started_->labels.size(), "label"),
        document::Tone::faint);
    return std::move(chart_);
  }

 private:
  std::string text(const std::string& key) const { return config::setting_text(data_.setting(run_, key)); }

  void box(std::string name, std::string detail, document::Tone tone) {
    chart_.boxes.push_back({std::move(name), std::move(detail), tone, {}});
  }

  std::string with_parameters(std::string detail, const std::string& layer) const {
    const auto count = layers_.find(layer);
    if (count == layers_.end()) return detail;
    return detail + (detail.empty() ? "" : "; ") + thousands(count->second) + " parameters";
  }

  /// Returns the options of a sub-layer as "heads 4, ...", which needs no wording for each layer of each
  /// plugin.
  std::string options(const std::string& name) const {
    const std::string prefix = "model.layer." + name + ".";
    std::string text;
    const auto params = data_.params.find(run_.number);
    if (params == data_.params.end()) return text;
    for (const store::ParamRow& param : params->second)
      if (param.key.starts_with(prefix) && param.key != prefix + "type" && param.source != "default")
        text += ", " + param.key.substr(prefix.size()) + " " + config::setting_text(param.value);
    return text;
  }

  /// Adds the blocks that the settings below `table` describe; their parameters are below `path`.
  void stack(const nlohmann::json& block, const std::string& table, const std::string& path,
             const std::string& title) {
    const std::size_t first = chart_.boxes.size();
    for (const nlohmann::json& name : block) sub_layer(config::setting_text(name), path);
    const nlohmann::json layers = data_.setting(run_, table + ".layers");
    chart_.groups.push_back(
        {title, first, chart_.boxes.size() - 1, layers.is_number_integer() ? layers.get<std::size_t>() : 1});
    const nlohmann::json final_norm = data_.setting(run_, "model.final_norm");
    if (final_norm.is_boolean() ? final_norm.get<bool>() : text("model.norm_position") == "pre")
      box(text("model.norm"), with_parameters("", path + ".norm"), document::Tone::third);
  }

  /// Adds a sub-layer: norm(x + dropout(layer(x))), or x + dropout(layer(norm(x))).
  void sub_layer(const std::string& name, const std::string& path) {
    const bool pre = this->text("model.norm_position") == "pre";
    const std::size_t trunk = chart_.boxes.size() - 1;
    if (pre) box(this->text("model.norm"), "", document::Tone::third);
    box(name,
        with_parameters(this->text("model.layer." + name + ".type") + options(name), path + ".0." + name) +
            " (with its norm)",
        document::Tone::first);
    box(pre ? "add" : "add, " + this->text("model.norm"), "dropout " + this->text("model.dropout"),
        document::Tone::third);
    chart_.boxes.back().skip_from = trunk;
  }

  const ReportData& data_;
  const store::RunRow& run_;
  const record::Started* started_;              ///< null: no worker reported a start
  std::map<std::string, std::int64_t> layers_;  ///< parameters
  document::FlowChart chart_;
};

}  // namespace

std::optional<document::FlowChart> architecture_of(const ReportData& data, const store::RunRow& run) {
  const nlohmann::json block = data.setting(run, "model.block");
  if (!block.is_array() || block.empty()) return std::nullopt;
  return Drawer(data, run).draw(block);
}

}  // namespace encore::report
