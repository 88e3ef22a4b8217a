// The files of page/ as strings of the program: a server has its page without an installation, and no other
// user of the machine can change the script that browsers get. Place in the flow: CMake fills
// page_files.cpp.in -> page.cpp.
#pragma once

namespace encore {

extern const char* const page_frame;   ///< page.html, with {{style}} and {{script}}
extern const char* const page_style;   ///< page.css
extern const char* const page_script;  ///< answers.js and page.js

}  // namespace encore
