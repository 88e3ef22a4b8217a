/* What a program may get wrong with encore_infer.h, and what it must get then: a line of output for each. */
#include <encore_infer.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void say(const char* what, encore_status status) {
  printf("%s: %d %s\n", what, (int)status, status == ENCORE_OK ? "" : encore_last_error());
}

static encore_model* shared;
static char* from_threads[4];

static void* ask(void* place) {
  const char* text = "Anna lives in Lund .";
  if (encore_predict(shared, &text, 1, (char**)place) != ENCORE_OK) printf("thread: %s\n", encore_last_error());
  return NULL;
}

int main(int argc, char** argv) {
  encore_model* model = NULL;
  char* text = NULL;
  const char* texts[] = {"Anna", "a\nb"};
  const char* none[] = {NULL};
  encore_options options = encore_default_options();
  if (argc != 4) return 2;
  printf("version: %s %d\n", encore_infer_version(), encore_infer_abi() == ENCORE_INFER_ABI);
  printf("before: \"%s\"\n", encore_last_error());
  say("no folder", encore_open(NULL, NULL, &model));
  say("missing", encore_open("/nowhere", NULL, &model));
  say("other", encore_open(argv[2], NULL, &model));
  say("transformers", encore_open(argv[3], NULL, &model));
  options.threads = 1000;
  say("threads", encore_open(argv[1], &options, &model));
  options = encore_default_options();
  options.size = 1;
  say("size", encore_open(argv[1], &options, &model));
  options = encore_default_options();
  options.integer_bits = 8;
  say("int8", encore_open(argv[1], &options, &model));
  options.integer_bits = 1;
  say("bits", encore_open(argv[1], &options, &model));
  printf("untouched: %d\n", model == NULL);
  say("open", encore_open(argv[1], NULL, &model));
  say("null text", encore_predict(model, none, 1, &text));
  say("no list", encore_predict(model, NULL, 1, &text));
  say("line break", encore_predict(model, texts, 2, &text));
  printf("untouched: %d\n", text == NULL);
  say("nothing asked", encore_predict(model, NULL, 0, &text));
  printf("nothing said: \"%s\"\n", text);
  encore_free(text);
  {
    static char words[4000];
    const char* longest = words;
    encore_model* cutting = NULL;
    int i;
    for (i = 0; i < 400; ++i) strcat(words, "Anna ");
    say("long", encore_predict(model, &longest, 1, &text));
    options = encore_default_options();
    options.truncate = 1;
    say("open again", encore_open(argv[1], &options, &cutting));
    say("cut", encore_predict(cutting, &longest, 1, &text));
    encore_free(text);
    encore_close(cutting);
  }
  say("describe", encore_describe(model, &text));
  printf("facts: %s\n", text);
  encore_free(text);
  {
    pthread_t threads[4];
    int i, equal = 1;
    shared = model;
    for (i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, ask, &from_threads[i]);
    for (i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    for (i = 0; i < 4; ++i) equal = equal && from_threads[i] != NULL && strcmp(from_threads[i], from_threads[0]) == 0;
    printf("together: %d %s", equal, from_threads[0]);
    for (i = 0; i < 4; ++i) encore_free(from_threads[i]);
  }
  {
    const char* asked = "Anna lives in Lund .";
    say("null scores", encore_predict_scores(model, &asked, 1, NULL));
    say("scores", encore_predict_scores(model, &asked, 1, &text));
    printf("scored: %s", text);
    encore_free(text);
  }
  encore_close(model);
  encore_close(NULL);
  encore_free(NULL);
  return 0;
}
