// Hexadecimal digits from the system's source of randomness: ids, names and tokens that must differ from all
// others. No number of a run follows from them.
#pragma once

#include <cstddef>
#include <string>

namespace encore {

std::string random_digits(std::size_t count);

}  // namespace encore
