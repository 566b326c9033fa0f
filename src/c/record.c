/* How often each way was taken, in all stacks of this kind together. */
static uint64_t loom_passed[LOOM_WAYS];

/* How many frames came in by each link, how many of them were as long as the one before, and how
 * many did not stand in a buffer that the host had been given. */
static struct {
    uint64_t all, alike, elsewhere;
} loom_frames[LOOM_LINKS];

/* A frame came in of a stack that had such a last one by this link. */
static void loom_frame_came(unsigned link, uint32_t length, uint32_t *last) {
    loom_frames[link].alike += *last == length;
    loom_frames[link].all += 1;
    *last = length;
}

/* Writes how often, when the program ends, where LOOM_PROFILE says. Programs whose threads run
 * stacks of this kind at the same time miss some. */
__attribute__((destructor)) static void loom_write_profile(void) {
    const char *const said = getenv("LOOM_PROFILE");
    const char *const name = said != NULL ? said : loom_file;
    FILE *const file = fopen(name, "w");
    bool is_written = file != NULL;
    if (is_written) {
        is_written = fputs(loom_begin, file) >= 0;
        for (size_t at = 0; at < LOOM_LINKS; at += 1) {
            is_written &= fprintf(file, "frames %s %llu alike %llu elsewhere %llu\n", loom_link[at],
                                  (unsigned long long)loom_frames[at].all,
                                  (unsigned long long)loom_frames[at].alike,
                                  (unsigned long long)loom_frames[at].elsewhere) > 0;
        }
        for (size_t at = 0; at < LOOM_WAYS; at += 1) {
            is_written &= fprintf(file, "%10llu  %s\n", (unsigned long long)loom_passed[at],
                                  loom_way[at]) > 0;
        }
        is_written &= fclose(file) == 0;
    }
    if (!is_written) {
        fprintf(stderr, "%s: the profile cannot be written\n", name);
    }
}
