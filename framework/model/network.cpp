// The model's flow: which node follows which. Read next: step_plan.cpp for memory, pass.cpp for running it.
#include "model/network.hpp"

#include "config/error.hpp"
#include "model/embedding.hpp"
#include "model/residual.hpp"
#include "plugin_host/registry.hpp"

namespace encore {

/// Adds nodes one after another and lets each declare what it needs.
class Network::Builder {
 public:
  Builder(std::vector<Node>& nodes, std::int64_t width) : nodes_(nodes), width_(width) {}

  Value add(const std::string& path, const PluginTable* table, std::vector<Value> inputs, const auto& make) {
    Node node{path, nullptr, nullptr, LayerPlan(width_), std::move(inputs), -1, {}};
    with_key(table, path, [&] {
      node.layer = make();
      node.layer->declare(node.plan);
    });
    return push(std::move(node));
  }

  Value add_residual(const std::string& path, Value branch, Value trunk, double dropout) {
    Node node{path, std::make_unique<Residual>(dropout), nullptr, LayerPlan(width_), {branch, trunk}, 0, {1}};
    if (dropout == 0.0) node.passed_inputs = {0, 1};
    node.layer->declare(node.plan);
    return push(std::move(node));
  }

  void add_head(const PluginTable& table, Value states, const auto& make) {
    Node node{"head", nullptr, nullptr, LayerPlan(width_), {states}, -1, {}};
    with_key(&table, "head", [&] {
      node.head = make();
      node.head->declare(node.plan);
    });
    push(std::move(node));
  }

 private:
  Value push(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<Value>(nodes_.size()) - 1;
  }

  /// A layer knows its options by name only; the user knows them by the key in the file.
  static void with_key(const PluginTable* table, const std::string& path, const auto& build) {
    if (table == nullptr) return build();
    try {
      build();
    } catch (const OptionError& error) {
      throw ConfigError(table->key + "." + error.option(), error.what());
    } catch (const ConfigError&) {
      throw;
    } catch (const Error& error) {
      throw ConfigError(table->key, path + ": " + error.what());
    }
  }

  std::vector<Node>& nodes_;
  std::int64_t width_;
};

Network::Network(const Experiment& experiment, std::int64_t vocabulary,
                 const std::vector<std::string>& labels, const Registry& registry, const Device& device)
    : precision_(experiment.train.precision == Precision::float64 ? DType::float64 : DType::float32),
      width_(experiment.model.width),
      max_length_(experiment.data.max_length) {
  const ModelTable& model = experiment.model;
  Builder builder(nodes_, width_);
  const auto layer = [&](const std::string& path, const LayerTable& table, Value input, std::int64_t block) {
    const LayerContext context{width_, max_length_, block, model.layers};
    return builder.add(path, &table, {input},
                       [&] { return registry.make_layer(table.type, table.options, context); });
  };

  const EmbeddingOptions embedding{vocabulary, max_length_, model.positions, model.dropout, precision_};
  Value x = builder.add("embedding", nullptr, {}, [&] { return make_embedding(device, width_, embedding); });
  for (std::int64_t block = 0; block < model.layers; ++block) {
    for (const LayerTable& table : model.block) {
      const std::string path = "encoder." + std::to_string(block) + "." + table.name;
      if (model.norm_position == NormPosition::post) {  // norm(x + dropout(layer(x)))
        const Value branch = layer(path, table, x, block);
        const Value sum = builder.add_residual(path + ".residual", branch, x, model.dropout);
        x = layer(path + ".norm", model.norm, sum, block);
      } else {  // x + dropout(layer(norm(x)))
        const Value normed = layer(path + ".norm", model.norm, x, block);
        const Value branch = layer(path, table, normed, block);
        x = builder.add_residual(path + ".residual", branch, x, model.dropout);
      }
    }
  }
  if (model.norm_position == NormPosition::pre) x = layer("encoder.norm", model.norm, x, model.layers);

  const HeadContext context{width_, static_cast<std::int64_t>(labels.size()),
                            experiment.train.label_smoothing, labels};
  builder.add_head(model.head, x,
                   [&] { return registry.make_head(model.head.type, model.head.options, context); });
}

std::vector<NamedParameter> Network::parameters() const {
  std::vector<NamedParameter> parameters;
  for (const Node& node : nodes_)
    for (const ParameterSpec& spec : node.plan.parameters())
      parameters.push_back({node.path + "." + spec.name, spec});
  return parameters;
}

std::uint64_t random_stream(std::string_view path, std::string_view purpose) {
  // FNV-1a with 64 bits; the slash keeps "a" + "bc" and "ab" + "c" apart.
  std::uint64_t hash = 14695981039346656037ULL;
  const auto add = [&hash](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  };
  add(path);
  add("/");
  add(purpose);
  return hash;
}

}  // namespace encore
