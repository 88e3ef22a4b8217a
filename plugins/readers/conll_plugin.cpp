// The reader "conll" as a plugin.
#include <encore/plugin.hpp>

#include "conll.hpp"

ENCORE_PLUGIN("conll", "1.0.0") {
  plugin.add<encore::Kind::reader, encore::conll::ConllReader>("conll");
}
