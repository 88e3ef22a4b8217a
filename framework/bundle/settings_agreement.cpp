// SPDX-License-Identifier: BSD-3-Clause
// Compares what the database says of a run (settings, hashes of its data, seed, and the question, the hash by
// which equal runs are found) with the run's specification.json. check_bundle.cpp and pack_bundle.cpp call
// it; check_bundle.cpp also writes the rows of settings and data again from the specification. A new field of
// a run is compared here. Paths never are, because a bundle is opened on another machine. Read
// settings_agreement.hpp first.
#include "bundle/settings_agreement.hpp"

#include "config/core_schema.hpp"
#include "plan/identity.hpp"

namespace encore::bundle {

namespace {

using nlohmann::json;

/// Returns the value of a dotted key in the resolved experiment; null if there is none.
const json* setting(const json& config, std::string_view key) {
  const json* at = &config;
  while (!key.empty()) {
    const std::size_t end = std::min(key.find('.'), key.size());
    const auto member = at->is_object() ? at->find(key.substr(0, end)) : at->end();
    if (member == at->end()) return nullptr;
    at = &*member;
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  return at;
}

bool is_path(const json& value) {
  const json& first = value.is_array() && !value.empty() ? value.front() : value;
  return first.is_string() && first.get_ref<const std::string&>().starts_with('/');
}

/// Returns whether two values are equal. An integer and a float of equal value are different.
bool same(const json& a, const json& b) {
  return a == b && a.is_number_float() == b.is_number_float() && a.is_boolean() == b.is_boolean();
}

}  // namespace

std::string difference_from_specification(store::Store& store, const store::RunRow& run,
                                          const record::Specification& specification) {
  const auto differs = [&](const std::string& what, const std::string& row, const std::string& own) {
    return "run " + run.name + ": its rows say " + what + " " + row + ", its specification.json says " + own;
  };
  if (specification.run != run.id || specification.question != run.question)
    return "its specification.json is of another experiment than run " + run.name;
  if (const std::string kind = record::kind_of(specification); run.kind != kind)
    return differs("kind", run.kind, kind);
  if (specification.seed != run.seed)
    return differs("seed", std::to_string(run.seed), std::to_string(specification.seed));
  if (specification.group != run.group) return differs("group", run.group, specification.group);
  if (specification.backend != run.backend) return differs("backend", run.backend, specification.backend);
  for (const store::ParamRow& row : store.read_params(run.number)) {
    const json* own = setting(specification.config, row.key);
    if (own == nullptr || config::only_describes(row.key) || is_path(row.value) || is_path(*own)) continue;
    if (!same(row.value, *own)) return differs(row.key + " =", row.value.dump(), own->dump());
  }
  for (const store::DatasetRow& row : store.read_datasets(run.number)) {
    const auto own = specification.data.find(row.role);
    if (own != specification.data.end() && own->second.sha256 != row.sha256)
      return differs("SHA-256 of " + row.role, row.sha256, own->second.sha256);
  }
  return "";
}

std::string claimed_question(const store::RunRow& run, const record::Specification& specification,
                             const config::Catalogue& catalogue) {
  const plan::RecomputedIdentity again = plan::recompute_identity(specification, catalogue);
  if (again.question == run.question && again.group == run.group) return "";
  if (again.uncertain.empty())
    throw Error("run " + run.name +
                ": its settings, data and seed do not give its question; its specification.json was "
                "changed");
  return again.uncertain;
}

void take_from_specification(store::Store& store, const store::RunRow& run,
                             const record::Specification& specification) {
  store::Transaction transaction(store.database());
  store.write_settings(run.number, specification);
  store::Database& database = store.database();
  database.cached("DELETE FROM run_dataset WHERE run = ?").run(run.number);
  for (const auto& [role, file] : specification.data) store.write_dataset(run.number, role, file);
  transaction.commit();
}

}  // namespace encore::bundle
