/* What timer_handler.strl leaves to C. */

integer SHIFT_RIGHT(integer value, integer bits) {
    return value >> bits;
}

integer TCP_BACKOFF(integer shift) {
    return 1 << (shift < 6 ? shift : 6);
}

integer TCPT_RANGESET(integer value, integer least, integer most) {
    return value < least ? least : value > most ? most : value;
}
