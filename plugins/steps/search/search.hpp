// SPDX-License-Identifier: BSD-3-Clause
// The steps "search" and "keyword_search": find the documents of a file that answer a request. The first asks
// a model for vectors and may join them with words (BM25); the second needs no model. search_plugin.cpp
// registers them; the worker calls them through AppStep (encore/step.hpp). Experiment files have the names of
// the options and stored runs the knowledge, so these never change. Read next: encore/document_index.hpp,
// fusion_choice.hpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <encore/document_index.hpp>
#include <encore/step.hpp>

#include "ranking/hits.hpp"

namespace encore::search {

/// What both steps have in common: the index that fit() builds in the folder of the step, answers, measures.
class IndexStep : public AppStep {
 public:
  static constexpr int version = 2;  // 1 gave no `texts`
  static constexpr const char* select = ranking::usual_select;
  static std::vector<Measure> measures() { return ranking::hit_measures(); }

  StepFields fields() const override;
  bool is_fitted() const override { return true; }
  void fit(const StepSets& sets) override;
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  std::vector<std::string> notes() const override { return notes_; }
  Records apply(const Records& records) override;
  void measure(const Records& records, const Records& given, Statistics& statistics) const override {
    ranking::measure_hits(records.lists("labels"), given.lists("hits"), statistics);
  }

 protected:
  /// `fusion`: how words and vectors are joined; empty: fit() chooses.
  IndexStep(const Options& options, const StepContext& context, std::optional<Fusion> fusion);

 private:
  class Answers;

  bool needs_vectors() const { return !wanted_ || wanted_->uses_vectors(); }
  void build_index();
  void choose(const Records& dev);
  /// Returns the vectors of inputs, in parts. A blank input has a vector of zeros.
  Records::NumberLists vectors_of(const Records::Texts& inputs);
  std::vector<FusedHit> found(const std::string& query, std::span<const double> vector) const;

  std::string name_;
  std::filesystem::path documents_, folder_;
  std::size_t hits_, depth_;
  IndexSettings settings_;
  PassageSettings passages_;
  std::uint64_t seed_;
  StepModel* model_;
  std::optional<Fusion> wanted_;
  Fusion fusion_;
  std::optional<DocumentIndex> index_;
  std::vector<std::string> notes_;
};

class Search final : public IndexStep {
 public:
  static constexpr const char* summary =
      "finds documents by the vectors of a model, by words (BM25), or by both if this helps";
  static constexpr bool asks_model = true;
  static Schema options();
  Search(const Options& options, const StepContext& context);
};

class KeywordSearch final : public IndexStep {
 public:
  static constexpr const char* summary = "finds documents by their words (BM25)";
  static Schema options();
  KeywordSearch(const Options& options, const StepContext& context);
};

}  // namespace encore::search
