// SPDX-License-Identifier: BSD-3-Clause
// serve_page(): joins the files of page/ to the page at `/`, and makes its Content-Security-Policy. The
// policy names the hashes of style and script, so a browser runs nothing else; `data:` allows the icon, which
// keeps browsers from requesting one. service.cpp sends both. The policy must not become weaker, or text of
// clients could become a script. Read next: page.hpp.
#include "serve/page.hpp"

#include "document/writer_parts.hpp"

namespace encore::serve {
namespace {

std::string filled(std::string text, const std::string& placeholder, const std::string& value) {
  return text.replace(text.find(placeholder), placeholder.size(), value);
}

ServePage page_of(const char* frame, const char* style, const char* script) {
  return {.html = filled(filled(frame, "{{style}}", style), "{{script}}", script),
          .policy = document::content_policy(style, script) +
                    "; img-src data:; connect-src 'self'; frame-ancestors 'none'"};
}

}  // namespace

const ServePage& serve_page() {
  static const ServePage page = page_of(page_frame, page_style, page_script);
  return page;
}

const ServePage& review_page() {
  static const ServePage page = page_of(review_frame, review_style, review_script);
  return page;
}

}  // namespace encore::serve
