// The model's flow: which node follows which. Read next: step_plan.cpp for memory, pass.cpp for running it.
#include "model/network.hpp"

#include <algorithm>

#include "config/error.hpp"
#include "kernels/gemm.hpp"
#include "model/embedding.hpp"
#include "model/residual.hpp"
#include "plugin_host/registry.hpp"
#include "record/crash_line.hpp"

namespace encore {
namespace {

std::string path_in(std::int64_t block, const std::string& name) {
  return "encoder." + std::to_string(block) + "." + name;
}

/// The first block of a block's group, whose parameters it uses: blocks are cut into `groups` runs as equal
/// as they can be, block b into run floor(b G / L) (Lan et al. 2020, who share among all blocks or among such
/// groups).
std::int64_t first_of_group(const ModelTable& model, std::int64_t block) {
  if (model.groups == 0) return block;
  const std::int64_t group = block * model.groups / model.layers;
  return (group * model.layers + model.groups - 1) / model.groups;
}

DType element_type(Precision precision) {
  switch (precision) {
    case Precision::float64:
      return DType::float64;
    case Precision::bfloat16:
      return DType::bfloat16;
    default:
      return DType::float32;
  }
}

}  // namespace

/// Adds nodes one after another and lets each declare what it needs.
class Network::Builder {
 public:
  Builder(std::vector<Node>& nodes, std::int64_t width, const Registry& registry)
      : nodes_(nodes), width_(width), registry_(registry) {}

  Value add(const std::string& path, const std::string& parameter_path, const PluginTable* table,
            std::vector<Value> inputs, const auto& make) {
    return push(make_node(path, parameter_path, table, std::move(inputs), make));
  }

  /// norm(trunk + dropout(branch)): one node where the norm takes a sum and may leave it in the branch's
  /// memory, else two.
  Value add_norm_of_sum(const InputSum& sum, Value branch, Value trunk, const std::string& path,
                        const std::string& parameter_path, const PluginTable* table, const auto& make) {
    Node node = make_node(path, parameter_path, table, {branch, trunk}, make);
    if (node.plan.takes_sum() && !nodes_[static_cast<std::size_t>(branch)].plan.reads_output())
      node.sum = sum;
    else
      node.inputs = {add_residual(sum.path, branch, trunk, sum.dropout)};
    return push(std::move(node));
  }

  Value add_residual(const std::string& path, Value branch, Value trunk, double dropout) {
    Node node{path, path, std::make_unique<Residual>(dropout), nullptr, LayerPlan(width_), {branch, trunk},
              0,    {1}};
    if (dropout == 0.0) node.passed_inputs = {0, 1};
    node.layer->declare(node.plan);
    return push(std::move(node));
  }

  void add_head(const PluginTable& table, Value states, const auto& make) {
    Node node{"head", "head", nullptr, nullptr, LayerPlan(width_), {states}, -1, {}};
    with_key(&table, "head", [&] {
      node.owner = registry_.owner_text(Kind::head, table.type);
      node.head = make();
      declare(*node.head, node);
    });
    push(std::move(node));
  }

 private:
  Node make_node(const std::string& path, const std::string& parameter_path, const PluginTable* table,
                 std::vector<Value> inputs, const auto& make) const {
    Node node{path, parameter_path, nullptr, nullptr, LayerPlan(width_), std::move(inputs), -1, {}};
    with_key(table, path, [&] {
      if (table != nullptr) node.owner = registry_.owner_text(Kind::layer, table->type);
      node.layer = make();
      declare(*node.layer, node);
    });
    if (parameter_path != path) require_equal_parameters(node);
    return node;
  }

  static void declare(auto& part, Node& node) {
    const std::string text = work_text("declaration", node.path, node.owner);
    const CurrentWork work(text.c_str());
    part.declare(node.plan);
  }

  Value push(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<Value>(nodes_.size()) - 1;
  }

  /// A layer may look at the number of its block; then it may not be able to share.
  void require_equal_parameters(const Node& node) const {
    const auto owner = std::find_if(nodes_.begin(), nodes_.end(),
                                    [&](const Node& other) { return other.path == node.parameter_path; });
    const auto equal = [](const ParameterSpec& a, const ParameterSpec& b) {
      return a.name == b.name && a.shape == b.shape && a.element == b.element && a.token_rows == b.token_rows;
    };
    if (!std::equal(owner->plan.parameters().begin(), owner->plan.parameters().end(),
                    node.plan.parameters().begin(), node.plan.parameters().end(), equal))
      throw ConfigError("model.groups", node.path + " cannot share the parameters of " + owner->path +
                                            ": it declares other names, shapes or types; set groups = 0");
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
    } catch (const OptionMisuse& error) {
      throw ConfigError(table->key, path + ": " + error.what());
    }
  }

  std::vector<Node>& nodes_;
  std::int64_t width_;
  const Registry& registry_;
};

Network::Network(const Experiment& experiment, std::int64_t vocabulary,
                 const std::vector<std::string>& labels, const Registry& registry, const Device& device)
    : precision_(element_type(experiment.train.precision)),
      width_(experiment.model.width),
      max_length_(experiment.data.max_length) {
  if (!device.gemm().multiplies(precision_))
    throw ConfigError("train.precision", device.gemm().name() + " has no products of " + name_of(precision_) +
                                             " matrices; set \"float32\"");
  const ModelTable& model = experiment.model;
  Builder builder(nodes_, width_, registry);
  const auto make = [&](const LayerTable& table, std::int64_t block) {
    return registry.make_layer(table.type, table.options, {width_, max_length_, block, model.layers});
  };
  const auto layer = [&](std::int64_t block, const std::string& name, const LayerTable& table, Value input) {
    return builder.add(path_in(block, name), path_in(first_of_group(model, block), name), &table, {input},
                       [&] { return make(table, block); });
  };
  const auto norm_of_sum = [&](std::int64_t block, const std::string& name, Value branch, Value trunk) {
    const InputSum sum{path_in(block, name + ".residual"), model.dropout};
    return builder.add_norm_of_sum(sum, branch, trunk, path_in(block, name + ".norm"),
                                   path_in(first_of_group(model, block), name + ".norm"), &model.norm,
                                   [&] { return make(model.norm, block); });
  };

  const EmbeddingOptions embedding{vocabulary, max_length_, model.positions, model.dropout, precision_};
  Value x = builder.add("embedding", "embedding", nullptr, {},
                        [&] { return make_embedding(device, width_, embedding); });
  for (std::int64_t block = 0; block < model.layers; ++block) {
    for (const LayerTable& table : model.block) {
      const std::string& name = table.name;
      if (model.norm_position == NormPosition::post) {  // norm(x + dropout(layer(x)))
        const Value branch = layer(block, name, table, x);
        x = norm_of_sum(block, name, branch, x);
      } else {  // x + dropout(layer(norm(x)))
        const Value normed = layer(block, name + ".norm", model.norm, x);
        const Value branch = layer(block, name, table, normed);
        x = builder.add_residual(path_in(block, name + ".residual"), branch, x, model.dropout);
      }
    }
  }
  if (model.norm_position == NormPosition::pre)
    x = builder.add("encoder.norm", "encoder.norm", &model.norm, {x},
                    [&] { return make(model.norm, model.layers); });

  const HeadContext context{width_, static_cast<std::int64_t>(labels.size()),
                            experiment.train.label_smoothing, labels};
  builder.add_head(model.head, x,
                   [&] { return registry.make_head(model.head.type, model.head.options, context); });
}

std::vector<NamedParameter> Network::parameters() const {
  std::vector<NamedParameter> parameters;
  for (const Node& node : nodes_) {
    if (node.parameter_path != node.path) continue;  // another node lists them
    for (const ParameterSpec& spec : node.plan.parameters())
      parameters.push_back({node.path + "." + spec.name, spec});
  }
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
