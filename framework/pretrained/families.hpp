// SPDX-License-Identifier: BSD-3-Clause
// The constants of all families, for the table in family.cpp and for tests. A new family is a file like
// bert_family.cpp, a line here and a row of that table. Read next: family.hpp.
#pragma once

#include "pretrained/family.hpp"

namespace encore::pretrained {

extern const Family bert_family;
extern const Family distilbert_family;
extern const Family roberta_family;
extern const Family gpt2_family;
extern const Family bart_family;
extern const Family marian_family;
extern const Family t5_family;

}  // namespace encore::pretrained
