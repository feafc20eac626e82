/* content - the content of messages, a hash of visit, rank and position. */
#include "memory/content.h"

#include <stdbool.h>
#include <string.h>

/* Not constant, since constant data could be compressed. */
uint64_t mg_content_word(int64_t visit, int rank, size_t i)
{
    uint64_t word = (uint64_t) visit * 0x9e3779b97f4a7c15u +
                    (uint64_t) (rank + 1) * 0xd1342543de82ef95u + (uint64_t) i;

    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

/* The bytes of a word from a position in it on, at most `left`. */
static size_t part_of_word(size_t place, size_t left)
{
    const size_t part = sizeof(uint64_t) - place % sizeof(uint64_t);

    return left < part ? left : part;
}

/* Fills whole words, from number `first` on. */
static void fill_words(unsigned char *data, size_t words, int64_t visit, int rank, size_t first)
{
    for (size_t i = 0; i < words; i++) {
        const uint64_t word = mg_content_word(visit, rank, first + i);

        memcpy(data + i * sizeof word, &word, sizeof word);
    }
}

/* Whether whole words are right.  Without an exit from the loop the compiler can vectorise it. */
static bool are_words(const unsigned char *data, size_t words, int64_t visit, int rank,
                      size_t first)
{
    uint64_t different = 0;

    for (size_t i = 0; i < words; i++) {
        uint64_t found;

        memcpy(&found, data + i * sizeof found, sizeof found);
        different |= found ^ mg_content_word(visit, rank, first + i);
    }
    return different == 0;
}

void mg_content_fill(unsigned char *data, size_t bytes, int64_t visit, int rank, size_t from)
{
    const size_t words = from % sizeof(uint64_t) == 0 ? bytes / sizeof(uint64_t) : 0;

    fill_words(data, words, visit, rank, from / sizeof(uint64_t));
    for (size_t at = words * sizeof(uint64_t); at < bytes;) {
        const size_t   begin = (from + at) % sizeof(uint64_t);
        const uint64_t word  = mg_content_word(visit, rank, (from + at) / sizeof word);
        const size_t   part  = part_of_word(begin, bytes - at);

        memcpy(data + at, (const unsigned char *) &word + begin, part);
        at += part;
    }
}

size_t mg_content_differs(const unsigned char *data, size_t bytes, int64_t visit, int rank,
                          size_t from)
{
    const size_t words = from % sizeof(uint64_t) == 0 ? bytes / sizeof(uint64_t) : 0;
    const bool   right = are_words(data, words, visit, rank, from / sizeof(uint64_t));

    for (size_t at = right ? words * sizeof(uint64_t) : 0; at < bytes;) {
        const uint64_t       word     = mg_content_word(visit, rank, (from + at) / sizeof word);
        const size_t         begin    = (from + at) % sizeof word;
        const size_t         part     = part_of_word(begin, bytes - at);
        const unsigned char *expected = (const unsigned char *) &word + begin;

        if (memcmp(data + at, expected, part) != 0)
            for (size_t b = 0; b < part; b++)
                if (data[at + b] != expected[b])
                    return at + b;
        at += part;
    }
    return bytes;
}
