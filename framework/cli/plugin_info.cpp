// plugin info: everything the manifest tells about a plugin, or about the type of that name.
#include <iostream>
#include <set>

#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "base/sha256.hpp"
#include "cli/access.hpp"
#include "cli/plugin_verb.hpp"
#include "cli/plugin_view.hpp"
#include "config/core_schema.hpp"
#include "config/markdown.hpp"
#include "config/option_text.hpp"

namespace encore {

namespace {

/// The plugins of that name, and those that offer a type of that name: a head and a schedule may both be
/// "linear".
std::vector<Manifest> find_named(const Catalogue& catalogue, const std::string& name) {
  std::vector<Manifest> found;
  std::set<std::string> names;
  for (const Manifest& manifest : catalogue.manifests()) {
    bool fits = manifest.name == name;
    names.insert(manifest.name);
    for (const ManifestOffer& offer : manifest.offers) {
      fits = fits || offer.name == name;
      names.insert(offer.name);
    }
    if (fits) found.push_back(manifest);
  }
  if (!found.empty()) return found;
  std::string text = "no plugin is called \"" + name + "\" or offers a type of that name" +
                     did_you_mean(name, {names.begin(), names.end()}) + " (searched:";
  for (const std::filesystem::path& folder : catalogue.folders()) text += " " + folder.string();
  text += ")";
  for (const RefusedPlugin& refused : catalogue.refused()) text += "\n  refused: " + refused.reason;
  throw Error(text);
}

/// "linear" means one of a plugin's types, or the plugin and so all of them.
bool is_asked_for(const Manifest& manifest, const ManifestOffer& offer, const std::string& name) {
  return manifest.name == name || offer.name == name;
}

void print_options(const Schema& schema, const Terminal& terminal) {
  if (schema.options().empty()) {
    std::cout << "  it has no options\n";
    return;
  }
  Table table({{"OPTION"}, {"TYPE"}, {"DEFAULT"}, {"RANGE"}, {"MEANING"}});
  for (const Option& option : schema.options()) {
    const std::string fallback = option.required ? "required" : default_text(option);
    table.add({option.name, type_text(option), fallback.empty() ? "-" : fallback, limits_text(option),
               option.rule.help});
  }
  table.print(std::cout, terminal, 2);
}

void print_measures(const ManifestOffer& task, const Terminal& terminal) {
  Table table({{"MEASURE"}, {"BETTER"}, {"MEANING"}});
  for (const Measure& measure : task.measures)
    table.add({measure.name, better_text(measure), meaning_text(measure)});
  if (!table.empty()) table.print(std::cout, terminal, 2);
  std::cout << "  without train.select the best checkpoint is the one of " << printable(task.select) << '\n';
}

void print_forms(const ManifestOffer& head, const Terminal& terminal) {
  for (const HeadForm& form : head.forms) {
    std::cout << "  " << head_form_text(head, form) << '\n';
    Table table({{"WHAT"}, {"NAME"}, {"OVER"}, {"VALUES"}});
    for (const HeadRow& row : head_rows(form))
      table.add(
          {row.what, row.name.empty() ? "-" : row.name, row.space.empty() ? "-" : row.space, row.values});
    table.print(std::cout, terminal, 2);
  }
}

void print_offer(const ManifestOffer& offer, const Terminal& terminal) {
  std::cout << styled(terminal, Style::bold, std::string(name_of(offer.kind)) + " " + offer.name)
            << "  version " << offer.version << ", in [" << table_of(offer.kind) << "]\n";
  if (!offer.summary.empty()) std::cout << "  " << printable(offer.summary) << '\n';
  print_options(offer.options, terminal);
  if (const std::string fields = fields_text(offer); !fields.empty())
    std::cout << "  " << printable(fields) << '\n';
  if (offer.kind == Kind::task) print_measures(offer, terminal);
  print_forms(offer, terminal);
  std::cout << '\n';
}

void print_text(const Manifest& manifest, const std::string& name) {
  const Terminal terminal = terminal_of(stdout);
  for (const ManifestOffer& offer : manifest.offers)
    if (is_asked_for(manifest, offer, name)) print_offer(offer, terminal);
  std::cout << "  plugin       " << printable(manifest.name) << ' ' << printable(manifest.version) << '\n'
            << "  file         " << manifest.library_path().string() << '\n'
            << "  SHA-256      " << sha256_of_file(manifest.library_path()) << '\n'
            << "  fingerprint  " << printable(manifest.fingerprint) << '\n';
}

}  // namespace

int plugin_info(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line("plugin info",
                   {"plugin info NAME [options]",
                    "Explains a plugin, or a type of any kind (layer, task, reader ...) by its name: each "
                    "option with type, default, range, unit and meaning, the fields and measures of a task, "
                    "the columns and outputs of a head, and the file it comes from.",
                    {{"exp plugin info self_attention", "the options of a layer"},
                     {"exp plugin info adam --markdown", "the page of a plugin, as in docs/plugins/"}}});
  add_plugin_view_options(line);
  line.options()("json", po::bool_switch(), "as JSON");
  line.options()("markdown", po::bool_switch(), "as the page of the documentation");
  line.positional("name");
  if (!line.parse(arguments)) return exit_done;
  if (line.flag("json") && line.flag("markdown"))
    throw UsageError("--json and --markdown exclude each other");

  const std::string name = line.required("name", "the name of a plugin or of a type");
  const std::vector<Manifest> found = find_named(read_plugin_view(line).catalogue, name);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Manifest& manifest : found) {
    if (line.flag("json")) {
      list.push_back(plugin_json(manifest));
    } else {
      if (&manifest != &found.front()) std::cout << '\n';
      if (line.flag("markdown"))
        std::cout << markdown_plugin(manifest);
      else
        print_text(manifest, name);
    }
  }
  if (line.flag("json")) std::cout << list.dump(2) << '\n';
  return exit_done;
}

}  // namespace encore
