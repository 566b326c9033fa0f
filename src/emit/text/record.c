/* How often each way was taken, in all stacks of this kind together. */
static uint64_t loom_passed[WAYS];

/* What each of them is. */
static const char *const loom_way[WAYS] = {
    NAMED
};

/* Writes how often, when the program ends, where LOOM_PROFILE says. Programs whose threads run
 * stacks of this kind at the same time miss some. */
__attribute__((destructor)) static void loom_write_profile(void) {
    const char *const said = getenv("LOOM_PROFILE");
    const char *const name = said != NULL ? said : "STACK.profile";
    FILE *const file = fopen(name, "w");
    bool is_written = file != NULL;
    if (is_written) {
        is_written = fprintf(file, "%s", BEGINS) > 0;
        for (size_t at = 0; at < WAYS; at += 1) {
            is_written &= fprintf(file, "%10llu  %s\n", (unsigned long long)loom_passed[at],
                                  loom_way[at]) > 0;
        }
        is_written &= fclose(file) == 0;
    }
    if (!is_written) {
        fprintf(stderr, "%s: the profile cannot be written\n", name);
    }
}
