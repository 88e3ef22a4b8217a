#include "cli/base_notes.hpp"

#include <ostream>

#include "config/unused_tables.hpp"

namespace encore {

void print_base_notes(std::ostream& out, const std::vector<SourceFile>& sources) {
  for (const std::string& note : unused_tables(sources)) out << "exp: note: " << note << '\n';
}

}  // namespace encore
