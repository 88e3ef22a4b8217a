// SPDX-License-Identifier: BSD-3-Clause
// exp plugin info: prints the manifest of a plugin or of one of its types, with all options.
// app/plugin_view.cpp finds it; plugin_verb.cpp lists the action. --markdown prints what config/markdown.hpp
// makes for docs/reference/plugins. JSON members and CSV columns keep their names.
#include <nlohmann/json.hpp>

#include "app/plugin_view.hpp"
#include "base/sha256.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "config/core_schema.hpp"
#include "config/markdown.hpp"
#include "config/option_text.hpp"
#include "document/escape.hpp"

namespace encore::cli {

namespace {

/// Returns whether the name means this type: "linear" means one type of a plugin, or the plugin with all its
/// types.
bool is_asked_for(const config::Manifest& manifest, const config::ManifestOffer& offer,
                  const std::string& name) {
  return manifest.name == name || offer.name == name;
}

void print_options(std::ostream& out, const Schema& schema, const Terminal& terminal) {
  if (schema.options().empty()) {
    out << "  it has no options\n";
    return;
  }
  Table table({{"OPTION"}, {"TYPE"}, {"DEFAULT"}, {"RANGE"}, {"MEANING"}});
  for (const Option& option : schema.options()) {
    const std::string fallback = option.required ? "required" : config::default_text(option);
    table.add({option.name, config::type_text(option), fallback.empty() ? "-" : fallback,
               config::limits_text(option), option.rule.help});
  }
  table.print(out, terminal, 2);
}

void print_measures(std::ostream& out, const config::ManifestOffer& offer, const Terminal& terminal) {
  Table table({{"MEASURE"}, {"BETTER"}, {"MEANING"}});
  for (const Measure& measure : offer.measures)
    table.add({measure.name, config::better_text(measure), config::meaning_text(measure)});
  if (!table.empty()) table.print(out, terminal, 2);
  if (!offer.select.empty())
    out << "  without " << config::select_option(offer) << ", " << printable(config::select_text(offer))
        << '\n';
}

void print_forms(std::ostream& out, const config::ManifestOffer& head, const Terminal& terminal) {
  for (const config::HeadInterface& form : config::head_interfaces(head)) {
    out << "  " << form.sentence << '\n';
    Table table({{"ROLE"}, {"NAME"}, {"ONE FOR EACH"}, {"VALUE"}});
    for (const config::HeadRow& row : form.rows)
      table.add(
          {row.what, row.name.empty() ? "-" : row.name, row.space.empty() ? "-" : row.space, row.values});
    table.print(out, terminal, 2);
  }
}

void print_offer(std::ostream& out, const config::ManifestOffer& offer, const Terminal& terminal) {
  out << styled(terminal, Style::bold, std::string(name_of(offer.kind)) + " " + offer.name) << "  version "
      << offer.version << ", in [" << config::table_of(offer.kind) << "]\n";
  if (!offer.summary.empty()) out << "  " << printable(offer.summary) << '\n';
  print_options(out, offer.options, terminal);
  if (const std::string fields = config::fields_text(offer); !fields.empty())
    out << "  " << printable(fields) << '\n';
  if (offer.kind == Kind::task || offer.kind == Kind::step) print_measures(out, offer, terminal);
  print_forms(out, offer, terminal);
  out << '\n';
}

void print_text(std::ostream& out, const config::Manifest& manifest, const std::string& name,
                const Terminal& terminal) {
  for (const config::ManifestOffer& offer : manifest.offers)
    if (is_asked_for(manifest, offer, name)) print_offer(out, offer, terminal);
  out << "  plugin       " << printable(manifest.name) << ' ' << printable(manifest.version) << '\n'
      << "  file         " << manifest.library_path().string() << '\n'
      << "  SHA-256      " << sha256_of_file(manifest.library_path()) << '\n'
      << "  fingerprint  " << printable(manifest.fingerprint) << '\n';
}

void print_options_csv(std::ostream& out, const config::Manifest& manifest, const std::string& name) {
  for (const config::ManifestOffer& offer : manifest.offers)
    if (is_asked_for(manifest, offer, name))
      for (const Option& option : offer.options.options())
        out << document::csv_record({manifest.name, name_of(offer.kind), offer.name, option.name,
                                     config::type_text(option), option.required ? "yes" : "no",
                                     config::default_text(option), config::limits_text(option),
                                     option.rule.help});
}

int plugin_info_action(const app::PluginInfoRequest& request, app::App&, Console& console) {
  const std::vector<config::Manifest> found = app::find_plugins(request);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  if (request.csv)
    console.out << document::csv_record(
        {"plugin", "kind", "type", "option", "value_type", "required", "default", "range", "meaning"});
  for (const config::Manifest& manifest : found) {
    if (request.json) {
      list.push_back(app::plugin_json(manifest));
      continue;
    }
    if (request.csv) {
      print_options_csv(console.out, manifest, request.name);
      continue;
    }
    if (&manifest != &found.front()) console.out << '\n';
    if (request.markdown)
      console.out << config::markdown_plugin(manifest);
    else
      print_text(console.out, manifest, request.name, console.terminal);
  }
  if (request.json) console.print(list);
  return exit_done;
}

}  // namespace

Verb plugin_info() {
  return make_verb("info", "describe a plugin or a type: options, file, fingerprint", app::plugin_info_form,
                   plugin_info_action);
}

}  // namespace encore::cli
