/* traits.h - what modes and patterns say of themselves, each in one list: the structs, --describe
 * and its explanations are made from it.  Python has a field of that name in plan/patterns.py.
 *
 *   TRAIT(type, name, about)        a member, told as it is
 *   TOLD(type, name, value, about)  a member, told as the value, by what text/describe.c has
 *   SAID(name, value, about)        no member, told as the value
 *   OWN(type, name, about)          a member that nobody else needs to know
 *
 * The order is that of the description. */
#ifndef MG_TRAITS_H
#define MG_TRAITS_H

/* Of struct mg_mode, besides its name and its functions. */
#define MG_MODE_TRAITS(TRAIT, TOLD, SAID, OWN)                                                     \
    TRAIT(const char *, about, "What it calls.")                                                   \
    TRAIT(const char *, time_of, "What one of its times is; \"\" where the pattern says it.")      \
    TOLD(const struct mg_sampling *, sampling, mode->sampling != NULL ? mode->sampling->name : "", \
         "How its samples are taken, by name, where it is not how the pattern's are; else \"\".")  \
    TRAIT(int, needs_mpi, "Version of the standard that introduced its calls; 0 is any.")          \
    TRAIT(int, directions, "Messages in flight at once between a pair; 2 doubles the rate.")       \
    TRAIT(bool, needs_eager,                                                                       \
          "Whether it deadlocks above the eager limit, so that the kernel does not start it "      \
          "there.")                                                                                \
    TRAIT(bool, never_eager,                                                                       \
          "Whether it returns only when the receive has begun, however small the message.")        \
    TRAIT(bool, needs_unified, "Whether it needs the unified memory model of windows.")            \
    TRAIT(bool, binds_buffers,                                                                     \
          "Whether all calls use the same buffers, which excludes cold ones.")                     \
    TRAIT(bool, attaches_buffer, "Whether it attaches memory for four messages to MPI.")           \
    TRAIT(bool, overlaps, "Whether it computes between the start of the operation and its end.")   \
    TRAIT(bool, in_a_row,                                                                          \
          "Whether a sample is several calls from one common start, as many as the clock needs.")  \
    TRAIT(bool, strided, "Whether its message lies in blocks at a distance.")                      \
    TRAIT(bool, partitioned, "Whether its message has partitions.")                                \
    TRAIT(bool, by_hand, "Whether it copies blocks by a loop, where MPI could be told of them.")   \
    TRAIT(bool, message_each, "Whether its time is that of one of the messages of a queue.")       \
    TRAIT(bool, alone,                                                                             \
          "Whether its calls cannot follow each other, so that a sample is one call.")             \
    TRAIT(bool, one_message,                                                                       \
          "Whether it sends one message where other modes of its pattern send a window.")          \
    TOLD(bool, counts_all, mg_counts_all(pattern, mode),                                           \
         "Whether an int counts, or addresses, the blocks of all ranks together.")                 \
    TRAIT(bool, room_everywhere,                                                                   \
          "Whether every rank needs the room for all blocks that otherwise only a root needs.")    \
    TRAIT(const char *, baseline,                                                                  \
          "Name of the ratio of a message's time to that of this mode; \"\" for none.")            \
    TRAIT(bool, beside_first,                                                                      \
          "Whether it is measured beside the first mode where no mode is asked for, since one is " \
          "compared with the other.")                                                              \
    TRAIT(const char *, instead_of,                                                                \
          "The mode that does the same and should not be slower than this one; \"\" for none.")    \
    TRAIT(bool, target_waits,                                                                      \
          "Whether the rank whose memory is worked on has nothing to do, and waits in MPI.")       \
    TRAIT(bool, target_computes,                                                                   \
          "Whether the rank whose memory is worked on computes meanwhile, outside MPI.")           \
    TRAIT(bool, computes_first,                                                                    \
          "Whether rank 0 computes for as long as the message takes before the clock starts.")     \
    TRAIT(bool, may_test,                                                                          \
          "Whether it calls MPI_Test during its computation, if that is asked for.")               \
    TOLD(enum mg_side, computing, side_names[mode->computing],                                     \
         "Which side alone computes during its operation; \"\" where all ranks do, or none.")      \
    TRAIT(bool, no_rate, "Whether its time is not that of moving all of its bytes.")               \
    SAID(compares, mg_mode_compares(pattern, mode),                                                \
         "Whether the kernel compares what its calls give with what they must.")                   \
    TRAIT(size_t, most_bytes, "Its largest size; 0 is any.")                                       \
    TRAIT(int, trips, "Its reported operations in a call; 0 is that of the pattern.")              \
    TRAIT(int, parts, "How many calls share the message; 0 if it is in one.")                      \
    TRAIT(int, depth_most, "Most entries of its queue; 0 means any number.")                       \
    TRAIT(size_t, unit_bytes, "Sizes are multiples of it; 0 means those of the pattern.")          \
    TOLD(int, work_times, mode->work_times > 0 ? mode->work_times : 1,                             \
         "How many times as long as its operation alone it computes.")                             \
    TRAIT(int, tests_usual, "How many such calls it makes unless asked otherwise.")                \
    TRAIT(struct mg_volume, scratch,                                                               \
          "Memory of one rank in addition to its send and receive buffers.")                       \
    OWN(bool, needs_one_host, "all ranks must share memory")                                       \
    OWN(const char *, lacks, "what the library that it was built with lacks for it; or NULL")

/* Of struct mg_pattern, besides its name, its functions and its modes. */
#define MG_PATTERN_TRAITS(TRAIT, TOLD, SAID, OWN)                                                  \
    TRAIT(const char *, about, "What it does.")                                                    \
    TRAIT(const char *, time_of, "What one reported time is.")                                     \
    TOLD(enum mg_family, family, family_names[pattern->family], "Its family of patterns.")         \
    TRAIT(const struct mg_sampling *, sampling,                                                    \
          "How samples are taken, by name: chained, blocks, floor, probe, common, common-blocks, " \
          "prepared or acked; of modes also arrived. `sampled` has the properties of that.")       \
    TRAIT(int, min_ranks, "The fewest ranks that it can be done with.")                            \
    TRAIT(int, active_ranks, "How many ranks take part; 0 means all.")                             \
    TOLD(int, trips, trips_of(pattern),                                                            \
         "Reported operations in a call: a number, or what it is the number of.")                  \
    TRAIT(size_t, unit_bytes, "Sizes are multiples of it, and not 0; 0 means any.")                \
    TRAIT(int64_t, least_ns, "The shortest sample; 0 is what the clock needs.")                    \
    TRAIT(const char *, sizes_usual,                                                               \
          "Sizes where none are asked for; \"\" where they are those of most patterns.")           \
    TRAIT(bool, windowed, "Whether it uses a window of messages.")                                 \
    TRAIT(bool, moves_bytes, "Whether sizes and rates make sense.")                                \
    TRAIT(bool, spans_bytes, "Whether the size is that of the memory worked on, without a rate.")  \
    TRAIT(bool, send_each, "Whether it sends a block to every rank.")                              \
    TRAIT(bool, recv_each, "Whether it receives a block from every rank.")                         \
    TRAIT(bool, reduces, "Whether it takes a datatype and an operation.")                          \
    TRAIT(bool, rooted, "Whether it has a root.")                                                  \
    TRAIT(bool, may_in_place, "Whether it has a form with MPI_IN_PLACE.")                          \
    TRAIT(bool, queues, "Whether its message is matched behind a queue of some depth.")            \
    TRAIT(bool, counts_int,                                                                        \
          "Whether an int counts its bytes, even with the large counts of MPI 4.")                 \
    TRAIT(bool, one_sided,                                                                         \
          "Whether it works on a window, in which ranks reach the memory of others.")              \
    TRAIT(bool, exposes_send,                                                                      \
          "Whether others read there what a rank sends; else they write what it receives.")        \
    TRAIT(bool, rank_times,                                                                        \
          "Whether the times of single ranks tell something, as those of pairs at work at once "   \
          "do.")                                                                                   \
    TRAIT(const char *, one_pair,                                                                  \
          "The pattern that one pair of it is, alone; \"\" where none is.")                        \
    TRAIT(bool, one_way,                                                                           \
          "Whether its time is that of one message, or of one cache line, one way.")               \
    TOLD(enum mg_senders, senders, senders_names[pattern->senders],                                \
         "Of whom fewer ranks can send: of `pairs` across the halves, or of the `others` to or "   \
         "from rank 0; \"\" where that is fixed.")                                                 \
    TOLD(enum mg_side, overhead, side_names[pattern->overhead],                                    \
         "Whose processor is busy during its time, where that is the time of a call; else \"\".")  \
    TOLD(enum mg_bus, bus, bus_names[pattern->bus],                                                \
         "The definition of bus bandwidth that is in use: same, others, twice, or \"\" for none.") \
    OWN(int, messages,                                                                             \
        "that a rank sends and receives in a call, each in a place of its own; 0 = one, or the "   \
        "window")                                                                                  \
    OWN(bool, accumulates, "recv is the second operand: it holds what rank + 1 sends")             \
    OWN(bool, counts_all, "as of a mode, for all modes")                                           \
    OWN(bool, synchronises, "no rank may leave before all have entered")                           \
    OWN(bool, shares_memory, "needs mg_state.shared, `bytes` after MG_PAGE_MAX_BYTES")             \
    OWN(bool, no_rate, "its time is not that of moving all of its bytes")                          \
    OWN(struct mg_volume, wire, "what must cross between ranks, whatever the algorithm")

/* Members of a struct from a list. */
#define MG_TRAIT_MEMBER(type, name, about)      type name;
#define MG_TOLD_MEMBER(type, name, told, about) type name;
#define MG_NO_MEMBER(name, told, about)

#endif
