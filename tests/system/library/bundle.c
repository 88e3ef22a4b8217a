// SPDX-License-Identifier: BSD-3-Clause
/* Opens a bundle (or a folder), of which a run may be named, and asks it once: a line with the status and what is said. */
#include <encore_infer.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  encore_model* model = NULL;
  char* answers = NULL;
  const char* text = "Anna lives in Lund .";
  encore_options options = encore_default_options();
  encore_status status;
  if (argc < 2) return 2;
  if (argc > 2) options.run = argv[2];
  if (argc > 3) options.size = (size_t)((char*)&options.run - (char*)&options); /* of a program that knows no runs */
  status = encore_open(argv[1], &options, &model);
  if (status != ENCORE_OK) return printf("%d %s\n", (int)status, encore_last_error()), 0;
  status = encore_predict(model, &text, 1, &answers);
  printf("%d %s", (int)status, status == ENCORE_OK ? answers : encore_last_error());
  encore_free(answers);
  encore_close(model);
  return 0;
}
