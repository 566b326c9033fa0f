The functions and types in C that stacks of tests call, by name; `externs.rs` does the same.

/* type mixer */
struct STACK_mixer {
    uint32_t state;
};

/* function weight */
uint32_t STACK_weight(void *user, uint32_t number) {
    (void)user;
    return 2 * number;
}

/* function stir */
uint32_t STACK_stir(void *user, struct STACK_mixer *state, uint16_t number) {
    (void)user;
    state->state = state->state * 1664525 + number + 1;
    return state->state;
}

/* function mix */
void STACK_mix(void *user, struct STACK_mixer *state, uint8_t *data, size_t data_length) {
    (void)user;
    for (size_t at = 0; at < data_length; at += 1) {
        state->state = state->state * 1664525 + 1013904223;
        data[at] ^= (uint8_t)(state->state >> 24);
    }
}

/* function tag */
uint16_t STACK_tag(void *user, struct STACK_bytes4 key, const uint8_t *data, size_t data_length,
                   uint8_t mood) {
    (void)user;
    uint32_t hash = 2166136261U ^ mood;
    for (size_t at = 0; at < 4; at += 1) {
        hash = (hash ^ key.at[at]) * 16777619;
    }
    for (size_t at = 0; at < data_length; at += 1) {
        hash = (hash ^ data[at]) * 16777619;
    }
    return (uint16_t)(hash % 5);
}

/* function lookup */
bool STACK_lookup(void *user, uint8_t number, bool has_other, uint16_t other, uint16_t *found) {
    *found = (uint16_t)(number * 3 + (has_other ? other : 1) + *(uint32_t *)user);
    return number % 5 != 0;
}

/* function sum */
int16_t STACK_sum(void *user, struct STACK_pair pair, bool half) {
    (void)user;
    return (int16_t)(uint16_t)(pair.first + pair.second + half);
}

/* function note */
void STACK_note(void *user, uint32_t number) {
    *(uint32_t *)user += number;
}

/* function kind_of */
uint8_t STACK_kind_of(void *user, uint8_t number) {
    *(uint32_t *)user += 1;
    return (uint8_t)(number + *(uint32_t *)user) & 3;
}

/* function is_fine */
bool STACK_is_fine(void *user, const uint8_t *data, size_t data_length) {
    (void)user;
    return data_length == 0 || data[0] % 8 != 0;
}

/* function turned */
struct STACK_bytes4 STACK_turned(void *user, struct STACK_bytes4 key) {
    (void)user;
    const uint8_t first = key.at[0];
    memmove(key.at, key.at + 1, 3);
    key.at[3] = (uint8_t)(first + 1);
    return key;
}

/* function token_of */
struct STACK_bytes_to8 STACK_token_of(void *user, uint8_t number) {
    (void)user;
    struct STACK_bytes_to8 token;
    memset(token.at, number, sizeof token.at);
    token.length = number % 16;
    return token;
}

/* function perhaps_token */
bool STACK_perhaps_token(void *user, uint8_t number, struct STACK_bytes_to8 *found) {
    *found = STACK_token_of(user, (uint8_t)(number + 1));
    return number % 4 != 0;
}

/* function twelve_bits */
uint16_t STACK_twelve_bits(void *user, uint8_t number) {
    (void)user;
    return (uint16_t)(number << 8 | number);
}
