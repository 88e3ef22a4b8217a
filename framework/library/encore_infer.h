/* encore_infer: the model of a run inside a program in C or C++, without exp and without a database. Link
   libencore_infer.so, which finds Encore's kernels and plugins from its own place.

     encore_model* model = NULL;
     if (encore_open("encore.db.runs/3f2a9c01d4", NULL, &model) != ENCORE_OK) puts(encore_last_error());

   Errors. Every function that can fail returns a status; anything but ENCORE_OK leaves the outputs as they
   were, and encore_last_error() says what is wrong, where, and what to do. No exception leaves the library.
   Threads. Any thread may call any function at any time: calls that compute take turns, process-wide, and
   each uses the threads of `threads`. encore_last_error() is that of the calling thread. encore_close() of a
   model must be the last call with it. Memory. A model belongs to the caller until encore_close(); a
   string that a call returns, until encore_free(). Strings that the caller passes are UTF-8, end with a zero
   byte, and are not kept. */
#ifndef ENCORE_INFER_H
#define ENCORE_INFER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rises with each change that breaks programs compiled before; the name of the library has it too.
 */
#define ENCORE_INFER_ABI 1

typedef enum encore_status {
  ENCORE_OK = 0,
  ENCORE_BAD_ARGUMENT = 1, /* a null pointer, or an invalid option */
  ENCORE_BAD_MODEL = 2, /* the path holds no model, or a damaged one, or needs a plugin that is missing */
  ENCORE_BAD_TEXT = 3,  /* the model cannot process a text, or its task lacks this function */
  ENCORE_NO_MEMORY = 4,
  ENCORE_FAILED = 5 /* anything else */
} encore_status;

typedef struct encore_model encore_model;

typedef struct encore_options {
  size_t size;             /* of this struct, as encore_default_options() sets it */
  const char* plugin_path; /* folders of plugins beside those of the installation, joined by colons; NULL: none */
  int threads;             /* of the processor; 0: one for each core. The first model of a process decides */
  int integer_bits;        /* 8 or 4: the weights that `exp quantize` has written; 0: those of training */
  int truncate;            /* 1: use only the beginning of a text that is too long; 0: refuse the text */
  const char* run;         /* of a bundle: the id of a run or its beginning; NULL: the one with parameters */
} encore_options;

/* "0.1.0"; the pointer stays valid. */
const char* encore_infer_version(void);
/* ENCORE_INFER_ABI of the loaded library. */
int encore_infer_abi(void);
/* The message of the last call of this thread that failed; "" before. Valid until its next call. */
const char* encore_last_error(void);

encore_options encore_default_options(void);

/* Loads the best model of a run. path: the run's folder ("encore.db.runs/ID"), one that
   `exp export --format encore` wrote, or a bundle (NAME.tar.zst). The library compares every file of a bundle
   with its list while it unpacks the run under $TMPDIR, and removes the unpacked files before the call
   returns. options: NULL for the defaults. */
encore_status encore_open(const char* path, const encore_options* options, encore_model** model);
/* Does nothing for NULL. */
void encore_close(encore_model* model);

/* Facts about the model, as a JSON object: run, task, labels, max_length, step, the SHA-256 of its parameters
   (digest), the width of its vectors, and notes on how it was loaded. */
encore_status encore_describe(encore_model* model, char** json);
/* The answer of the task to each of `count` inputs: one JSON object per line, as `exp predict --json`
 * prints them. */
encore_status encore_predict(encore_model* model, const char* const* texts, size_t count, char** lines);
/* The same with probabilities, as `exp predict --scores --json` prints them: `score` of each answer and, where
   there are labels, `scores` of all of them. ENCORE_BAD_TEXT if the model's task has no probabilities, such as
   a regression; encore_last_error() names the task. */
encore_status encore_predict_scores(encore_model* model, const char* const* texts, size_t count, char** lines);
/* Numbers in a vector; 0: the model has none, and encore_embed says why. */
size_t encore_vector_width(encore_model* model);
/* The vector of each text, as `exp embed` has them, one after the other: count * encore_vector_width floats.
 */
encore_status encore_embed(encore_model* model, const char* const* texts, size_t count, float* vectors);

/* Frees a string that a call returned. Does nothing for NULL. */
void encore_free(char* text);

#ifdef __cplusplus
}
#endif

#endif
