// SPDX-License-Identifier: BSD-3-Clause
// The part "data" of the method: files, sizes, lengths of examples, counts of labels, and cut examples, as
// the workers reported them. method.cpp calls data_section(). CSV and JSON have the ids and columns of its
// tables, so they stay. Read sections.hpp first.
#include <algorithm>

#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// A file in a role ("train", "dev"), with what a worker reported about the set that it read from the file.
struct Set {
  std::string role, path, sha256;
  std::size_t runs = 0;
  const record::SetFacts* facts = nullptr;  ///< null if no worker reported any
  nlohmann::json max_length;
};

/// Returns the files of a run; for each set that data.split cut from the training file, that file once more.
std::vector<store::DatasetRow> with_shares(std::vector<store::DatasetRow> files,
                                           const record::Started* started) {
  const auto train = std::ranges::find(files, "train", &store::DatasetRow::role);
  if (started == nullptr || train == files.end()) return files;
  const store::DatasetRow whole = *train;
  for (const auto& [split, facts] : started->data)
    if (std::ranges::find(files, split, &store::DatasetRow::role) == files.end())
      files.push_back({split, whole.path, whole.sha256});
  return files;
}

std::vector<Set> sets_of(const ReportData& data) {
  std::vector<Set> sets;
  for (const store::RunRow& run : data.runs) {
    const auto files = data.datasets.find(run.number);
    if (files == data.datasets.end()) continue;
    nlohmann::json max_length = data.setting(run, "data.max_length");
    if (const record::Started* started = data.started(run); started != nullptr && started->max_length)
      max_length = *started->max_length;
    for (const store::DatasetRow& file : with_shares(files->second, data.started(run))) {
      const record::SetFacts* here = data.facts(run, file.role);
      const auto known = std::find_if(sets.begin(), sets.end(), [&](const Set& set) {
        // Another tokenizer or limit of length gives other lengths, so the file is listed again.
        return set.role == file.role && set.sha256 == file.sha256 &&
               (here == nullptr || set.facts == nullptr || *set.facts == *here);
      });
      if (known == sets.end()) {
        sets.push_back({file.role, file.path, file.sha256, 1, here, max_length});
        continue;
      }
      ++known->runs;
      if (known->facts == nullptr) known->facts = here;
    }
  }
  const auto rank = [](const Set& set) {
    const std::vector<std::string> roles = {"train", "dev", "test"};
    const std::string role = set.role.substr(0, set.role.find('.'));  // "train.2" is a file of "train"
    return std::find(roles.begin(), roles.end(), role) - roles.begin();
  };
  std::stable_sort(sets.begin(), sets.end(), [&](const Set& a, const Set& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return natural_less(a.path, b.path);
  });
  return sets;
}

document::TableCell cell_of(const std::optional<std::int64_t>& count) {
  return count ? count_cell(*count) : document::TableCell();
}

document::TableBlock file_table(const std::vector<Set>& sets) {
  document::TableBlock table;
  table.id = "data-files";
  table.caption = "Files by their content. A run is identified by the hash, not by the path.";
  table.columns = {{"set", "", false}, {"file", "", false}, {"SHA-256", "", false}, {"runs", "", true}};
  for (const Set& set : sets)
    table.rows.push_back({set.role, config::setting_text(set.path), code_cell(set.sha256),
                          count_cell(static_cast<std::int64_t>(set.runs))});
  table.notes.push_back("Licences of the data are not recorded.");
  return table;
}

/// Returns the names of the tasks' counts in any of the sets, in the order of their reports.
std::vector<std::string> count_names(const std::vector<Set>& sets) {
  std::vector<std::string> names;
  for (const Set& set : sets)
    if (set.facts != nullptr)
      for (const record::NamedCount& count : set.facts->counts)
        if (std::ranges::find(names, count.name) == names.end()) names.push_back(count.name);
  return names;
}

document::TableCell count_cell_of(const record::SetFacts& facts, const std::string& name) {
  const auto count = std::ranges::find(facts.counts, name, &record::NamedCount::name);
  return count != facts.counts.end() ? count_cell(count->value) : document::TableCell();
}

document::TableBlock size_table(const std::vector<Set>& sets) {
  document::TableBlock table;
  table.id = "data-sizes";
  table.caption =
      "Sizes as the model sees them: tokens are those of the tokenizer and the markers that the task adds; "
      "longer sequences are cut to data.max_length.";
  table.columns = {{"set", "", false},          {"file", "", false},         {"examples", "", true},
                   {"tokens", "", true},        {"longest", "tokens", true}, {"max_length", "tokens", true},
                   {"unknown tokens", "", true}};
  const std::vector<std::string> names = count_names(sets);
  for (const std::string& name : names) table.columns.push_back({name, "", true});
  for (const Set& set : sets) {
    if (set.facts == nullptr) continue;
    std::vector<document::TableCell> row = {set.role,
                                            config::setting_text(set.path),
                                            count_cell(set.facts->examples),
                                            cell_of(set.facts->tokens),
                                            cell_of(set.facts->longest),
                                            set.max_length.is_number_integer()
                                                ? count_cell(set.max_length.get<std::int64_t>())
                                                : document::TableCell(),
                                            cell_of(set.facts->unknown_tokens)};
    for (const std::string& name : names) row.push_back(count_cell_of(*set.facts, name));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Returns the table of labels, one column per set. A set that several tokenizers have read is shown once.
document::TableBlock label_table(const std::vector<Set>& sets) {
  document::TableBlock table;
  table.id = "data-labels";
  table.caption = "How often each label occurs. Words beyond max_length are not counted.";
  table.columns = {{"label", "", false}};
  std::vector<const Set*> shown;
  std::vector<std::string> labels;
  for (const Set& set : sets) {
    if (set.facts == nullptr || set.facts->labels.empty() || shown.size() == 9) continue;
    const bool again = std::any_of(shown.begin(), shown.end(), [&](const Set* other) {
      return other->role == set.role && other->sha256 == set.sha256 &&
             other->facts->labels == set.facts->labels;
    });
    if (again) continue;
    shown.push_back(&set);
    table.columns.push_back({set.role + ", " + config::setting_text(set.path), "", true});
    for (const auto& [label, count] : set.facts->labels)
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  // Labels of words: O first, then by type, B- before I-.
  std::sort(labels.begin(), labels.end(), [](const std::string& a, const std::string& b) {
    if ((a == "O") != (b == "O")) return a == "O";
    const std::string left = a.substr(std::min<std::size_t>(2, a.size())),
                      right = b.substr(std::min<std::size_t>(2, b.size()));
    return left != right ? left < right : a < b;
  });
  for (const std::string& label : labels) {
    std::vector<document::TableCell> row = {label};
    for (const Set* set : shown) {
      const auto count = set->facts->labels.find(label);
      row.push_back(count != set->facts->labels.end() ? count_cell(count->second) : document::TableCell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_histograms(const std::vector<Set>& sets, std::vector<document::Block>& blocks) {
  constexpr std::size_t most = 3;
  std::size_t number = 0;
  for (const Set& set : sets) {
    if (set.role != "train" || set.facts == nullptr || set.facts->lengths.counts.empty() || number == most)
      continue;
    const record::SetFacts& facts = *set.facts;
    document::Histogram chart{{"length of an example", "tokens"},
                              {"examples", ""},
                              0.5,
                              static_cast<double>(facts.lengths.width),
                              {facts.lengths.counts.begin(), facts.lengths.counts.end()},
                              {},
                              {}};
    if (set.max_length.is_number() &&
        set.max_length.get<double>() <= 1.5 * static_cast<double>(facts.longest.value_or(0))) {
      chart.mark = set.max_length.get<double>();
      chart.mark_name = "max_length";
    }
    document::Figure figure;
    figure.id = "lengths" + (++number > 1 ? "-" + std::to_string(number) : "");
    figure.caption = "Lengths of the training examples of " + config::setting_text(set.path) +
                     ", in tokens, after cutting.";
    figure.alternative = "A histogram of " + count_cell(facts.examples).text.plain() +
                         " examples; the longest has " + cell_of(facts.longest).text.plain() + " tokens.";
    figure.chart = std::move(chart);
    blocks.push_back(std::move(figure));
  }
}

}  // namespace

document::Section data_section(const ReportData& data) {
  document::Section section{"data", "Data"};
  const std::vector<Set> sets = sets_of(data);
  if (sets.empty()) {
    section.blocks.push_back(document::Notice{"No data files were recorded."});
    return section;
  }
  section.blocks.push_back(file_table(sets));
  document::TableBlock sizes = size_table(sets);
  if (sizes.rows.empty())
    section.blocks.push_back(document::Notice{"No worker reported the sizes of its data."});
  else
    section.blocks.push_back(std::move(sizes));
  document::TableBlock labels = label_table(sets);
  if (!labels.rows.empty()) section.blocks.push_back(std::move(labels));
  add_histograms(sets, section.blocks);
  return section;
}

}  // namespace encore::report
