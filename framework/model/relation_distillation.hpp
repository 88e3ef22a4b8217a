// SPDX-License-Identifier: BSD-3-Clause
// RelationDistillation is what a model learns from a teacher's rows beside its scores ([distil] states and
// attention): the relations of the rows that leave the last block, and those of the queries, keys and values
// of the last layer that has them (encore/relations.hpp). It holds copies of the teacher's rows and the
// values that the losses keep for the backward pass. Model::learn_from makes it, Model's training passes use
// it, Pass adds to the gradients (Pass::use_taught).
//
//   teacher.forward_layers([&](...) { relations.copy_rows_of(node, step, output); });
//   student.forward();
//   Tensor losses = relations.losses(student);
//   student.use_taught(relations.taught(scale));
#pragma once

#include <cstdint>
#include <vector>

#include <encore/relations.hpp>

#include "config/experiment.hpp"
#include "memory/device_memory.hpp"
#include "model/network.hpp"
#include "model/pass.hpp"

namespace encore::model {

/// Throws ConfigError if a student cannot learn the relations that its experiment asks for, whatever its
/// teacher.
void require_relations(const Network& student, const config::Experiment& experiment);

/// Returns the last layer that has queries, keys and values to learn from, or no_value.
ValueIndex last_with_relations(const Network& network);

class RelationDistillation {
 public:
  /// Throws Error if the teacher lacks states or attention that the experiment asks for, or if the heads do
  /// not divide a width of it.
  RelationDistillation(const Network& student, const Network& teacher, const Device& device);

  /// Allocates memory for shards up to this size.
  void plan(const BatchSize& largest);
  /// Call it after each layer of a forward pass of the teacher, while its buffers hold their content.
  void copy_rows_of(const Node& node, const Step& step, Tensor output);
  /// Returns, after the forward pass of the student over the same rows, the loss of each row, head and matrix
  /// in the type of sums, valid until the next call.
  Tensor losses(Pass& student);
  /// Returns what a backward pass adds if the sum of these losses has this factor.
  const TaughtPass& taught(double scale);

 private:
  /// One of the matrices whose rows are compared.
  struct Part {
    std::int64_t width = 0;  ///< the teacher's
    double weight = 1.0;
  };
  TaughtRows of_shard(std::size_t part, std::int64_t rows) const;

  const Device& device_;
  std::int64_t heads_;
  DType type_;                    ///< of sums, in the student
  std::vector<Part> parts_;       ///< states first, if they are wanted, then queries, keys and values
  const Node* states_ = nullptr;  ///< of the teacher; null: not wanted
  const Node* attention_ = nullptr;
  ValueIndex own_states_ = no_value, own_attention_ = no_value;
  const Network& student_;
  std::vector<memory::DeviceBuffer> copies_, log_sums_;
  memory::DeviceBuffer losses_;
  TaughtPass taught_;
};

}  // namespace encore::model
