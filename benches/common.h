/* What the sides of the benchmarks that are written in C share: how they complain, tell the time and read a file. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Says why nothing came of it, in the one line that is expected. */
static void fail(const char *why) {
    printf("! %s\n", why);
    exit(1);
}

/* The CPU time of this thread, in nanoseconds. */
static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* A whole file, with a zero behind it that does not count; the caller frees it. */
static char *load(const char *path, int *length) {
    FILE *file = fopen(path, "rb");
    if (!file) fail("no such file");
    fseek(file, 0, SEEK_END);
    *length = (int)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    if (!text || fread(text, 1, *length, file) != (size_t)*length) fail("the file cannot be read");
    text[*length] = 0;
    fclose(file);
    return text;
}
