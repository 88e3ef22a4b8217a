// The reader "text" as a plugin.
#include <encore/plugin.hpp>

#include "text.hpp"

ENCORE_PLUGIN("text_reader", "1.0.0") {
  plugin.add<encore::Kind::reader, encore::plain_text::TextReader>("text");
}
