// Searches of Othello by MO-ISMCTS as icarus makes them, inlined by hand, with properties of data structures switched on one by one.
//
// Without properties a search has the keys, tables and rows of icarus, and makes the same choices from the same generator, so that it ends
// with the same visits. A line of input asks for one search: policy, properties, iterations, and the generator's four words; a line of
// output answers: seconds of processor time, and the visits of the root's actions.
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <type_traits>
#include <utility>
#include <vector>

using Word = uint64_t;

enum Policy { NAST2, EPIC, RAVE, MIX };  // MIX: RAVE >> (MAST + LGRF + NAST2)/3
enum Property {
    INLINED = 1,    // rows stand in the hash table itself, not behind an index
    NUMBERED = 2,   // no keys: tables by number, and rows of a history's actions side by side
    MARKED = 4,     // a bit for each action that has visits, together for a history or last move
    READY = 8,      // means and roots are kept when a row changes, not computed from it
    SINGLE = 16,    // reals of 32 bits
    OWN = 32,       // the reward of the player who acted, not of each
    BITS = 64,      // legal actions stay a word of bits, and are not listed
    EIGHT = 128,    // eight directions of moves in one register (AVX-512), not four
};

// ---------------------------------------------------------------------------------------- random numbers, as icarus draws them

struct Generator {
    Word s[4];
    static Word rotated(Word word, int bits) { return word << bits | word >> (64 - bits); }
    Word next() {
        Word word = rotated(s[0] + s[3], 23) + s[0], shifted = s[1] << 17;
        s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= shifted;
        s[3] = rotated(s[3], 45);
        return word;
    }
    int below(uint32_t bound) {
        Word product = (next() >> 32) * bound;
        if (uint32_t(product) < bound)
            for (uint32_t unfair = -bound % bound; uint32_t(product) < unfair;) product = (next() >> 32) * bound;
        return int(product >> 32);
    }
    double uniform() { return double(next() >> 11) * 0x1p-53; }
};

// ------------------------------------------------------------------------------------------------------------------ Othello

const int PASS = 64;
const Word INNER = 0x7E7E7E7E7E7E7E7E, ROWS = 0x00FFFFFFFFFFFF00, EDGE = 0xFF818181818181FF;

static Word joined(__m256i v) {
    __m128i pair = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return Word(_mm_cvtsi128_si64(_mm_or_si128(pair, _mm_unpackhi_epi64(pair, pair))));
}

// The discs of unbroken lines that begin next to these squares, along four axes: one way and the other.
static void lines(Word ends, Word theirs, __m256i& left, __m256i& right) {
    const __m256i step = _mm256_set_epi64x(9, 7, 8, 1), twice = _mm256_add_epi64(step, step);
    const __m256i inner = _mm256_set_epi64x(INNER, INNER, -1, INNER), from = _mm256_set1_epi64x(ends);
    const __m256i between = _mm256_and_si256(_mm256_set1_epi64x(theirs), inner);
    auto along = [&](__m256i more, __m256i line) { return _mm256_or_si256(line, _mm256_and_si256(between, more)); };
    left = along(_mm256_sllv_epi64(from, step), _mm256_setzero_si256());
    right = along(_mm256_srlv_epi64(from, step), _mm256_setzero_si256());
    left = along(_mm256_sllv_epi64(left, step), left), right = along(_mm256_srlv_epi64(right, step), right);
    const __m256i pairs = _mm256_and_si256(between, _mm256_sllv_epi64(between, step));
    const __m256i others = _mm256_srlv_epi64(pairs, step);
    for (int i = 0; i < 2; i++) {
        left = _mm256_or_si256(left, _mm256_and_si256(pairs, _mm256_sllv_epi64(left, twice)));
        right = _mm256_or_si256(right, _mm256_and_si256(others, _mm256_srlv_epi64(right, twice)));
    }
}

#ifdef __AVX512F__
static __m512i lines_of_eight(Word ends, Word theirs, __m512i step) {
    const __m512i inner = _mm512_and_si512(_mm512_set1_epi64(theirs),
        _mm512_set_epi64(INNER & ROWS, INNER & ROWS, ROWS, INNER, INNER & ROWS, INNER & ROWS, ROWS, INNER));
    const __m512i twice = _mm512_and_si512(_mm512_add_epi64(step, step), _mm512_set1_epi64(63));
    auto along = [](__m512i line, __m512i between, __m512i by) {
        return _mm512_ternarylogic_epi64(line, between, _mm512_rolv_epi64(line, by), 0xF8);
    };
    __m512i line = along(_mm512_and_si512(inner, _mm512_rolv_epi64(_mm512_set1_epi64(ends), step)), inner, step);
    const __m512i pairs = _mm512_and_si512(inner, _mm512_rolv_epi64(inner, step));
    return along(along(line, pairs, twice), pairs, twice);
}
static __m512i eight_steps() { return _mm512_set_epi64(55, 57, 56, 63, 9, 7, 8, 1); }
static Word joined(__m512i v) { return joined(_mm256_or_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1))); }
#endif

template <int P> Word moves(Word mine, Word theirs) {
#ifdef __AVX512F__
    if constexpr (P & EIGHT)
        return joined(_mm512_rolv_epi64(lines_of_eight(mine, theirs, eight_steps()), eight_steps())) & ~(mine | theirs);
#endif
    const __m256i step = _mm256_set_epi64x(9, 7, 8, 1);
    __m256i left, right;
    lines(mine, theirs, left, right);
    return joined(_mm256_or_si256(_mm256_sllv_epi64(left, step), _mm256_srlv_epi64(right, step))) & ~(mine | theirs);
}

template <int P> Word flips(Word mine, Word theirs, Word disc) {
#ifdef __AVX512F__
    if constexpr (P & EIGHT) {
        __m512i line = lines_of_eight(disc, theirs, eight_steps());
        auto closed = _mm512_test_epi64_mask(_mm512_rolv_epi64(line, eight_steps()), _mm512_set1_epi64(mine));
        return joined(_mm512_maskz_mov_epi64(closed, line));
    }
#endif
    __m256i left, right, from_right, from_left;
    lines(disc, theirs, left, right), lines(mine, theirs, from_right, from_left);
    return joined(_mm256_or_si256(_mm256_and_si256(left, from_left), _mm256_and_si256(right, from_right)));
}

struct Board {
    Word discs[2] = {1ULL << 28 | 1ULL << 35, 1ULL << 27 | 1ULL << 36};
    int player = 0, passes = 0, last = PASS + 1;
    template <int P> Word legal() const { return moves<P>(discs[player], discs[1 - player]); }
    template <int P> void apply(int action) {
        if (action == PASS) passes++;
        else {
            Word &mine = discs[player], &theirs = discs[1 - player], disc = 1ULL << action;
            Word flipped = flips<P>(mine, theirs, disc);
            mine |= flipped | disc, theirs &= ~flipped, passes = 0;
        }
        player ^= 1, last = action;
    }
    bool starts_episode() const { return last < PASS && EDGE >> last & 1; }
};

// A pass has the bit of a square in the middle, which is never empty.
static Word bit(int action) { return 1ULL << (action == PASS ? 27 : action); }
static Word or_pass(Word squares) { return squares ? squares : bit(PASS); }
static int action_of(Word bits) { int square = __builtin_ctzll(bits); return square == 27 ? PASS : square; }
static int place(Word mask, int action) { return __builtin_popcountll(mask & (bit(action) - 1)); }

// ------------------------------------------------------------------------------------------------- records: keys, rows, tables

static Word mix(Word key, Word part) {
    Word word = (key + 0x9E3779B97F4A7C15) ^ part * 0xBF58476D1CE4E5B9;
    word = (word ^ word >> 32) * 0x94D049BB133111EB;
    return word ^ word >> 29;
}
static Word extended(Word key, int player, int action) { return mix(key, Word(player + 2) << 56 ^ Word(action)); }

template <int> struct None {};
struct Key { Word key = 0; };
struct Link { uint32_t node = 0; };
template <int P> using Real = std::conditional_t<(P & SINGLE) != 0, float, double>;
template <int P> const int REWARDS = P & OWN ? 1 : 2;
template <int P> struct Kept { Real<P> mean[REWARDS<P>] = {}, root = 0; };
template <int P> struct KeptOfOne { Real<P> mean = 1, root = 0; };
template <int P> using KeyIf = std::conditional_t<(P & NUMBERED) != 0, None<0>, Key>;

template <int P> struct Node : std::conditional_t<(P & NUMBERED) != 0, Link, Key>, std::conditional_t<(P & READY) != 0, Kept<P>, None<1>> {
    Real<P> reward[REWARDS<P>] = {};
    int visits = 0, availability = 0;
    void visit(const double* rewards, int player) {
        for (int i = 0; i < REWARDS<P>; i++) reward[i] += Real<P>(rewards[P & OWN ? player : i]);
        visits++;
        if constexpr (P & READY) {
            for (int i = 0; i < REWARDS<P>; i++) this->mean[i] = reward[i] / Real<P>(visits);
            this->root = 1 / std::sqrt(Real<P>(visits));
        }
    }
};
template <int P> struct Mean : KeyIf<P>, std::conditional_t<(P & READY) != 0, KeptOfOne<P>, None<1>> {
    Real<P> reward = 0;
    int visits = 0;
    void visit(double more) {
        reward += Real<P>(more), visits++;
        if constexpr (P & READY) this->mean = reward / Real<P>(visits), this->root = 1 / std::sqrt(Real<P>(visits));
    }
};
template <int P> struct Reply : KeyIf<P> { int64_t action = -1; };
struct Marks : Key { Word seen = 0; };

static double FULLEST = 0.4;
template <class Row, bool INLINE> struct Table {
    size_t capacity, used = 0;
    uint32_t* index = nullptr;
    Row* rows = nullptr;
    explicit Table(size_t entries) : capacity(entries) { make(); }
    ~Table() { free(index), free(rows); }
    void make() {
        if constexpr (INLINE) rows = (Row*)calloc(capacity + 1, sizeof(Row)), new (rows + capacity) Row();
        else index = (uint32_t*)calloc(capacity, 4), rows = (Row*)malloc((size_t(FULLEST * capacity) + 2) * sizeof(Row)), new (rows) Row();
    }
    size_t entry(Word key) const {
        size_t i = key & (capacity - 1);
        if constexpr (INLINE) while (rows[i].key != 0 && rows[i].key != key) i = (i + 1) & (capacity - 1);
        else while (index[i] != 0 && rows[index[i]].key != key) i = (i + 1) & (capacity - 1);
        return i;
    }
    uint32_t find(Word key) const {  // the number of the row; where there is none, that of the initial information
        size_t i = entry(key);
        if constexpr (INLINE) return rows[i].key ? uint32_t(i) : uint32_t(capacity);
        else return index[i];
    }
    Row& at(Word key) {
        size_t i = entry(key);
        if constexpr (INLINE) {
            if (!rows[i].key) new (rows + i) Row(), rows[i].key = key, used++;
            return rows[i];
        } else {
            if (!index[i]) index[i] = uint32_t(++used), rows[used] = rows[0], rows[used].key = key;
            return rows[index[i]];
        }
    }
    void prefetch(Word key) const {
        if constexpr (INLINE) __builtin_prefetch(&rows[key & (capacity - 1)], 1);
        else __builtin_prefetch(&index[key & (capacity - 1)], 1);
    }
    void reserve(size_t more) {
        if (double(used + more) <= FULLEST * double(capacity)) return;
        Table larger(capacity * 2);
        for (size_t i = INLINE ? 0 : 1; i < (INLINE ? capacity : used + 1); i++)
            if (rows[i].key) larger.at(rows[i].key) = rows[i];
        std::swap(capacity, larger.capacity), std::swap(index, larger.index), std::swap(rows, larger.rows);
    }
};

// Histories by number: the rows of a history's actions stand side by side, in the order of the bits of its mask.
template <int P> struct Tree {
    struct Children { Word mask = 0, seen = 0; uint32_t first = 0; };
    std::vector<Children> nodes{1};  // 0: a history that nobody has met
    std::vector<Node<P>> rows{2};    // 0: the initial information, 1: of the root
    std::vector<Mean<P>> amaf{2};
    bool with_amaf;
    Tree(size_t most, bool with_amaf) : with_amaf(with_amaf) { nodes.reserve(most), rows.reserve(2 * most); }
    uint32_t add() { nodes.emplace_back(); return uint32_t(nodes.size() - 1); }
    void open(uint32_t node, Word legal) {
        Children& at = nodes[node];
        if (!(legal & ~at.mask)) return;
        Word mask = at.mask | legal;
        size_t first = rows.size(), count = __builtin_popcountll(mask);
        rows.resize(first + count);
        if (with_amaf) amaf.resize(first + count);
        for (Word rest = at.mask; rest; rest &= rest - 1)
            rows[first + place(mask, action_of(rest))] = rows[at.first + place(at.mask, action_of(rest))];
        at.mask = mask, at.first = uint32_t(first);
    }
    uint32_t row(uint32_t node, int action) const {
        const Children& at = nodes[node];
        return at.mask & bit(action) ? at.first + place(at.mask, action) : 0;
    }
};

// -------------------------------------------------------------------------------------------------------------------- a search

const int SMALL = 4096, LONGEST = 140;
template <class R> struct Logarithms {
    R log[SMALL], root[SMALL];
    Logarithms() { for (int i = 0; i < SMALL; i++) log[i] = R(std::log(double(i))), root[i] = R(std::sqrt(std::log(double(std::max(i, 1))))); }
};
template <class R> const Logarithms<R> LOGARITHMS;
template <class R> R log_of(int count) { return count < SMALL ? LOGARITHMS<R>.log[count] : std::log(R(count)); }
template <class R> R root_of_log(int count) { return count < SMALL ? LOGARITHMS<R>.root[count] : std::sqrt(std::log(R(count))); }

struct Step { Word legal; int action, player, count; };

template <Policy POLICY, int P> struct Search {
    using R = Real<P>;
    static const bool BY_NUMBER = P & NUMBERED, IN = P & INLINED, GRAMS = POLICY == NAST2 || POLICY == MIX;
    static const bool AMAF = POLICY == RAVE || POLICY == MIX;
    template <class Row> using TableOf = Table<std::conditional_t<BY_NUMBER, Marks, Row>, IN>;  // not used by number

    Generator rng;
    int selected[4] = {};  // how often each action of the root
    Step steps[LONGEST];
    int64_t listed[LONGEST][72];
    R values[64], amaf_values[64];
    uint32_t places[64], amaf_places[64];
    int counts[64];
    // By keys: of histories, positions-in-episode, and their records.
    Word keys[LONGEST], records[LONGEST], positions[LONGEST], position_records[LONGEST];
    std::vector<Word> updates;
    std::vector<int> contexts;
    TableOf<Node<P>> tree{1 << 15}, episodes{POLICY == EPIC ? 1 << 21 : 16};
    TableOf<Mean<P>> amaf{AMAF ? 1 << 17 : 16}, means{POLICY == MIX ? 1 << 11 : 16}, grams{GRAMS ? 1 << 15 : 16};
    TableOf<Reply<P>> replies{POLICY == MIX ? 1 << 11 : 16};
    Table<Marks, IN> marks{P & MARKED && !BY_NUMBER && (GRAMS || POLICY == EPIC) ? 1 << 15 : 16};
    Table<Marks, IN> tree_marks{P & MARKED && !BY_NUMBER ? 1 << 15 : 16};
    std::vector<uint8_t> filter = std::vector<uint8_t>(POLICY == EPIC && !BY_NUMBER ? 1 << 18 : 0);  // of positions, as in icarus
    // By number.
    Tree<P> nodes{BY_NUMBER ? 1u << 15 : 1u, AMAF}, places_in_episode{BY_NUMBER && POLICY == EPIC ? 1u << 20 : 1u, false};
    uint32_t node[LONGEST], row[LONGEST], position[LONGEST], starts[3];
    std::vector<Mean<P>> mean_of = std::vector<Mean<P>>(BY_NUMBER ? 2 * 64 : 0), gram_of = std::vector<Mean<P>>(BY_NUMBER && GRAMS ? 2 * 66 * 64 : 0);
    std::vector<Word> gram_seen = std::vector<Word>(2 * 66);
    int reply_of[2][66];

    // -------------------------------------------------------------------------------------------------- actions and choices

    template <class F> void each(int t, F f) {  // f(place, action)
        if constexpr (P & BITS) {
            int i = 0;
            for (Word rest = steps[t].legal; rest; rest &= rest - 1) f(i++, action_of(rest));
        } else for (int i = 0; i < steps[t].count; i++) f(i, int(listed[t][i]));
    }
    void list(int t, Word squares) {
        Step& step = steps[t];
        step.legal = or_pass(squares), step.count = __builtin_popcountll(step.legal);
        if constexpr (!(P & BITS)) {
            Word rest = squares;
            for (int i = 0; i < step.count; i += 8)
                for (int j = i; j < i + 8; j++, rest &= rest - 1) listed[t][j] = int64_t(__builtin_ctzll(rest | 1ULL << 63));
            if (!squares) listed[t][0] = PASS;
        }
    }
    int action_at(int t, int i) { return P & BITS ? action_of(_pdep_u64(1ULL << i, steps[t].legal)) : int(listed[t][i]); }
    int any_of(int t, Word some) {  // of these, which are legal; returns its place among the legal ones
        int count = __builtin_popcountll(some), i = count > 1 ? rng.below(count) : 0;
        return __builtin_popcountll(steps[t].legal & (_pdep_u64(1ULL << i, some) - 1));
    }
    int best(int count) {
        R most = values[0];
        int ties = 1, first = 0;
        for (int i = 1; i < count; i++) {
            bool greater = values[i] > most;
            ties = greater ? 1 : ties + (values[i] == most), first = greater ? i : first, most = greater ? values[i] : most;
        }
        if (ties > 1)
            for (int skip = rng.below(ties); skip > 0;) skip -= values[++first] == most;
        return first;
    }

    // ------------------------------------------------------------------------------------------------------ values from rows

    template <class Rows> void by_availability(const Rows& rows, int count, int player) {
        int who = P & OWN ? 0 : player;
        bool infinite = false;
        for (int i = 0; i < count; i++) {
            bool is_new = rows[places[i]].visits == 0 || rows[places[i]].availability == 0;
            values[i] = is_new ? R(INFINITY) : R(0), infinite |= is_new;
        }
        if (!infinite)
            for (int i = 0; i < count; i++) {
                const Node<P>& each = rows[places[i]];
                if constexpr (P & READY) values[i] = each.mean[who] + R(.7) * root_of_log<R>(each.availability) * each.root;
                else values[i] = each.reward[who] / R(each.visits) + R(.7) * std::sqrt(log_of<R>(each.availability) / R(each.visits));
            }
    }
    template <class Rows> void by_visits(const Rows& rows, const uint32_t* at, int count, R* out) {
        int total = 0;
        bool infinite = false;
        for (int i = 0; i < count; i++) {
            const Mean<P>& each = rows[at[i]];
            if constexpr (P & READY) out[i] = each.mean; else out[i] = each.reward;
            counts[i] = each.visits, total += each.visits, infinite |= each.visits == 0;
        }
        if (infinite) for (int i = 0; i < count; i++) out[i] = counts[i] == 0 ? R(INFINITY) : R(0);
        else if constexpr (P & READY) {
            R root = R(.7) * root_of_log<R>(total);
            for (int i = 0; i < count; i++) out[i] += root * rows[at[i]].root;
        } else {
            R trials = log_of<R>(total);
            for (int i = 0; i < count; i++) out[i] = out[i] / R(counts[i]) + R(.7) * std::sqrt(trials / R(counts[i]));
        }
    }

    // --------------------------------------------------------------------------------------------------- decisions in the tree

    int select(int t, int player) {
        int count = steps[t].count;
        Word unseen = 0;
        if constexpr (BY_NUMBER) {
            nodes.open(node[t], steps[t].legal);
            if constexpr (P & MARKED) unseen = steps[t].legal & ~nodes.nodes[node[t]].seen;
        } else if constexpr (P & MARKED) unseen = steps[t].legal & ~tree_marks.rows[tree_marks.find(keys[t])].seen;
        int index = 0;
        if (P & MARKED && unseen) index = any_of(t, unseen);
        else {
            each(t, [&](int i, int action) {
                if constexpr (BY_NUMBER) places[i] = nodes.nodes[node[t]].first + i;
                else places[i] = tree.find(extended(keys[t], player, action));
            });
            if (count > 1) {
                if constexpr (AMAF) {  // AMAF's values, whose rows are looked up anew
                    each(t, [&](int i, int action) {
                        if constexpr (BY_NUMBER) amaf_places[i] = nodes.nodes[node[t]].first + i;
                        else amaf_places[i] = amaf.find(extended(keys[t], player, action));
                    });
                    if constexpr (BY_NUMBER) by_visits(nodes.amaf, amaf_places, count, amaf_values);
                    else by_visits(amaf.rows, amaf_places, count, amaf_values);
                }
                if constexpr (BY_NUMBER) by_availability(nodes.rows, count, player);
                else by_availability(tree.rows, count, player);
                if constexpr (AMAF) {
                    int visits;
                    if constexpr (BY_NUMBER) visits = nodes.rows[row[t]].visits;
                    else visits = tree.rows[tree.find(records[t])].visits;
                    R weight = std::sqrt(R(250) / R(3 * visits + 250)), rest = 1 - weight;
                    for (int i = 0; i < count; i++) values[i] = weight * amaf_values[i] + rest * values[i];
                }
                index = best(count);
            }
        }
        return index;
    }
    bool has_visits(int t, int player, int action) {
        if constexpr (BY_NUMBER) return nodes.rows[nodes.row(node[t], action)].visits > 0;
        else return tree.rows[tree.find(extended(keys[t], player, action))].visits > 0;
    }

    // -------------------------------------------------------------------------------------------------- decisions in simulation

    int simulate(int t, const Board& board) {
        int count = steps[t].count, player = board.player;
        if constexpr (POLICY == RAVE) return rng.below(count);
        if constexpr (POLICY == EPIC) return by_position(t, player);
        if constexpr (POLICY == MIX) {
            double point = rng.uniform();
            if (point < 1 / 3.) return by_mean(t, player);
            if (point < 1 / 3. + 1 / 3.) return by_reply(t, player);
        }
        return by_gram(t, player);
    }
    R mean_at(int player, int action) {
        const Mean<P>* at;
        if constexpr (BY_NUMBER) at = &mean_of[player * 64 + __builtin_ctzll(bit(action))];
        else at = &means.rows[means.find(mix(mix(0, action), player))];
        if constexpr (P & READY) return at->mean;
        return at->visits ? at->reward / R(at->visits) : R(1);
    }
    int by_mean(int t, int player) {
        int count = steps[t].count;
        for (int tries = 0; tries < count; tries++) {
            int i = rng.below(count);
            double x = double(mean_at(player, action_at(t, i))) - 1, point = rng.uniform(), above = 1 + x + x * x / 2;
            if (point < above && (point < above + x * x * x / 6 || point < std::exp(x))) return i;
        }
        R most = R(-INFINITY), total = 0;
        each(t, [&](int i, int action) { values[i] = mean_at(player, action), most = std::max(most, values[i]); });
        for (int i = 0; i < count; i++) values[i] = std::exp(values[i] - most), total += values[i];
        R rest = R(rng.uniform()) * total;
        for (int i = 0; i < count; i++)
            if ((rest -= values[i]) < 0) return i;
        return count - 1;
    }
    int by_reply(int t, int player) {
        int count = steps[t].count;
        int64_t good = -1;
        if (t > 0) {
            if constexpr (BY_NUMBER) good = reply_of[player][steps[t - 1].action];
            else good = replies.rows[replies.find(mix(mix(0, steps[t - 1].action), player))].action;
        }
        if constexpr (P & BITS) {
            if (good >= 0 && steps[t].legal & bit(int(good))) return place(steps[t].legal, int(good));
        } else for (int i = 0; i < count; i++)
            if (listed[t][i] == good) return i;
        return rng.below(count);
    }
    int by_gram(int t, int player) {
        if (t == 0) return rng.below(steps[t].count);
        int last = steps[t - 1].action;
        if constexpr (P & MARKED) {
            Word seen;
            if constexpr (BY_NUMBER) seen = gram_seen[player * 66 + last];
            else seen = marks.rows[marks.find(mix(mix(0, last), player))].seen;
            if (Word unseen = steps[t].legal & ~seen) return any_of(t, unseen);
        }
        Word before = mix(0, last);
        each(t, [&](int i, int action) {
            if constexpr (BY_NUMBER) places[i] = uint32_t((player * 66 + last) * 64 + __builtin_ctzll(bit(action)));
            else places[i] = grams.find(mix(mix(before, action), player));
        });
        if constexpr (BY_NUMBER) by_visits(gram_of, places, steps[t].count, values);
        else by_visits(grams.rows, places, steps[t].count, values);
        return best(steps[t].count);
    }
    int by_position(int t, int player) {
        Word legal = steps[t].legal;
        if constexpr (BY_NUMBER) {
            if (!position[t]) return rng.below(steps[t].count);
            if constexpr (P & MARKED)
                if (Word unseen = legal & ~places_in_episode.nodes[position[t]].seen) return any_of(t, unseen);
            each(t, [&](int i, int action) { places[i] = places_in_episode.row(position[t], action); });
            by_availability(places_in_episode.rows, steps[t].count, player);
        } else {
            if constexpr (P & MARKED) {
                if (Word unseen = legal & ~marks.rows[marks.find(positions[t])].seen) return any_of(t, unseen);
            } else if (!(filter[positions[t] >> 3 & (filter.size() - 1)] >> (positions[t] & 7) & 1)) return rng.below(steps[t].count);
            each(t, [&](int i, int action) { places[i] = episodes.find(extended(positions[t], player, action)); });
            by_availability(episodes.rows, steps[t].count, player);
        }
        return best(steps[t].count);
    }

    // ------------------------------------------------------------------------------------------- captures and backpropagation

    void ask(Word key, int context) { updates.push_back(key), contexts.push_back(context); }
    template <class T> void backpropagate_nodes(T& table, const double* rewards) {  // context: who acted, or 2 where only available
        table.reserve(updates.size());
        for (size_t i = 0; i < updates.size(); i++) {
            table.prefetch(updates[std::min(i + 12, updates.size() - 1)]);
            auto& at = table.at(updates[i]);
            if (contexts[i] < 2) at.visit(rewards, contexts[i]);
            at.availability++;
        }
        updates.clear(), contexts.clear();
    }
    template <class T> void backpropagate_means(T& table, const double* rewards) {
        table.reserve(updates.size());
        for (size_t i = 0; i < updates.size(); i++) {
            table.prefetch(updates[std::min(i + 12, updates.size() - 1)]);
            table.at(updates[i]).visit(rewards[contexts[i]]);
        }
        updates.clear(), contexts.clear();
    }
    void mark(Table<Marks, IN>& table, Word key, int action) { table.reserve(1), table.at(key).seen |= bit(action); }

    void learn_tree(int depth, int length, const double* rewards) {
        if constexpr (BY_NUMBER) {
            for (int i = 0; i <= depth; i++) nodes.rows[row[i]].visit(rewards, i ? steps[i - 1].player : 0), nodes.rows[row[i]].availability++;
            for (int i = 0; i < depth; i++) {
                auto& at = nodes.nodes[node[i]];
                at.seen |= bit(steps[i].action);
                each(i, [&](int j, int action) { if (action != steps[i].action) nodes.rows[at.first + j].availability++; });
            }
            if constexpr (AMAF)
                for (int i = 0; i < depth; i++)
                    for (int j = i; j < length; j++)
                        if (steps[j].player == steps[i].player && steps[i].legal & bit(steps[j].action))
                            nodes.amaf[nodes.row(node[i], steps[j].action)].visit(rewards[steps[i].player]);
        } else {
            for (int i = 0; i <= depth; i++) ask(records[i], i ? steps[i - 1].player : 0);
            for (int i = 0; i < depth; i++)
                each(i, [&](int, int action) { if (action != steps[i].action) ask(extended(keys[i], steps[i].player, action), 2); });
            backpropagate_nodes(tree, rewards);
            if constexpr (P & MARKED)
                for (int i = 0; i < depth; i++) mark(tree_marks, keys[i], steps[i].action);
            if constexpr (AMAF) {
                for (int i = 0; i < depth; i++)
                    for (int j = i; j < length; j++)
                        if (steps[j].player == steps[i].player && steps[i].legal & bit(steps[j].action))
                            ask(extended(keys[i], steps[i].player, steps[j].action), steps[i].player);
                backpropagate_means(amaf, rewards);
            }
        }
    }
    void learn_means(int length, const double* rewards) {
        for (int i = 0; i < length; i++) {
            int player = steps[i].player, action = steps[i].action;
            if constexpr (BY_NUMBER) mean_of[player * 64 + __builtin_ctzll(bit(action))].visit(rewards[player]);
            else ask(mix(mix(0, action), player), player);
        }
        if constexpr (!BY_NUMBER) backpropagate_means(means, rewards);
    }
    void learn_replies(int length, const double* rewards) {
        if constexpr (!BY_NUMBER) replies.reserve(length);
        for (int i = 1; i < length; i++) {
            int player = steps[i].player, action = steps[i].action, last = steps[i - 1].action;
            auto learn = [&](auto& reply) { if (rewards[player] > 0) reply = action; else if (reply == action) reply = -1; };
            if constexpr (BY_NUMBER) learn(reply_of[player][last]);
            else learn(replies.at(mix(mix(0, last), player)).action);
        }
    }
    void learn_grams(int length, const double* rewards) {
        for (int i = 1; i < length; i++) {
            int player = steps[i].player, action = steps[i].action, last = steps[i - 1].action, of = player * 66 + last;
            if constexpr (BY_NUMBER) {
                gram_of[of * 64 + __builtin_ctzll(bit(action))].visit(rewards[player]);
                if constexpr (P & MARKED) gram_seen[of] |= bit(action);
            } else {
                ask(mix(mix(mix(0, last), action), player), player);
                if constexpr (P & MARKED) mark(marks, mix(mix(0, last), player), action);
            }
        }
        if constexpr (!BY_NUMBER) backpropagate_means(grams, rewards);
    }
    void learn_positions(int length, const double* rewards) {
        if constexpr (BY_NUMBER) {
            auto& table = places_in_episode;
            for (int i = 0; i < length; i++) {
                const Step& step = steps[i];
                table.open(position[i], step.legal);
                uint32_t played = table.row(position[i], step.action);
                each(i, [&](int, int action) { table.rows[table.row(position[i], action)].availability++; });
                table.rows[played].visit(rewards, step.player), table.nodes[position[i]].seen |= bit(step.action);
                if (!position[i + 1] && i + 1 < length) {
                    uint32_t next = table.rows[played].node ? table.rows[played].node : table.add();
                    table.rows[played].node = next, position[i + 1] = next;
                }
            }
        } else {
            for (int i = 0; i <= length; i++) ask(position_records[i], i ? steps[i - 1].player : 0);
            for (int i = 0; i < length; i++)
                each(i, [&](int, int action) { if (action != steps[i].action) ask(extended(positions[i], steps[i].player, action), 2); });
            backpropagate_nodes(episodes, rewards);
            for (int i = 0; i < length; i++)
                if constexpr (P & MARKED) mark(marks, positions[i], steps[i].action);
                else filter[positions[i] >> 3 & (filter.size() - 1)] |= uint8_t(1 << (positions[i] & 7));
        }
    }

    // ----------------------------------------------------------------------------------------------------------- Algorithm 1

    void begin() {
        if constexpr (BY_NUMBER) {
            node[0] = nodes.nodes.size() > 1 ? 1 : nodes.add(), row[0] = 1;
            if constexpr (POLICY == EPIC) {
                if (places_in_episode.nodes.size() == 1)
                    for (uint32_t& start : starts) start = places_in_episode.add();
                position[0] = starts[2];
            }
        } else {
            keys[0] = mix(1, 0), records[0] = 0x1CA205;
            if constexpr (POLICY == EPIC) position_records[0] = mix(2, 7), positions[0] = mix(position_records[0], 0);
        }
    }
    void append(int t, const Board& board, bool in_tree) {
        int player = steps[t].player, action = steps[t].action;
        if constexpr (BY_NUMBER) {
            if (in_tree) {
                row[t + 1] = nodes.row(node[t], action);
                uint32_t next = nodes.rows[row[t + 1]].node;
                node[t + 1] = nodes.rows[row[t + 1]].node = next ? next : nodes.add();
            }
            if constexpr (POLICY == EPIC)
                position[t + 1] = board.starts_episode() ? starts[board.player]
                    : position[t] ? places_in_episode.rows[places_in_episode.row(position[t], action)].node : 0;
        } else {
            if (in_tree) keys[t + 1] = mix(keys[t], action), records[t + 1] = extended(keys[t], player, action);
            if constexpr (POLICY == EPIC) {
                position_records[t + 1] = extended(positions[t], player, action);
                positions[t + 1] = board.starts_episode() ? mix(mix(2, board.player), 0) : mix(positions[t], action);
            }
        }
    }
    bool root_has_visits() {
        if constexpr (BY_NUMBER) return nodes.rows[1].visits > 0;
        else return tree.rows[tree.find(records[0])].visits > 0;
    }
    void iterate() {
        Board board;
        begin();
        int t = 0, depth = 0;
        for (bool in_tree = root_has_visits(); board.passes < 2; t++) {
            list(t, board.legal<P>());
            Step& step = steps[t];
            step.player = board.player;
            bool decided_in_tree = in_tree;
            int index = in_tree ? select(t, board.player) : step.count > 1 ? simulate(t, board) : 0;
            step.action = action_at(t, index);
            if (in_tree) in_tree = has_visits(t, board.player, step.action), depth = t + 1;
            board.apply<P>(step.action);
            append(t, board, decided_in_tree);
        }
        selected[place(steps[0].legal, steps[0].action)]++;
        int lead = __builtin_popcountll(board.discs[0]) - __builtin_popcountll(board.discs[1]);
        double first = lead > 0 ? 1 : lead == 0 ? .5 : 0, rewards[2] = {first, 1 - first};
        learn_tree(depth, t, rewards);
        if constexpr (POLICY == EPIC) learn_positions(t, rewards);
        if constexpr (POLICY == MIX) learn_means(t, rewards), learn_replies(t, rewards);
        if constexpr (GRAMS) learn_grams(t, rewards);
    }
};

static double seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

template <Policy POLICY, int P> void run(int iterations, const Word* seed) {
    double began = seconds();
    auto* search = new Search<POLICY, P>();
    std::copy(seed, seed + 4, search->rng.s);
    for (auto& replies : search->reply_of) std::fill(replies, replies + 66, -1);
    for (int i = 0; i < iterations; i++) search->iterate();
    double took = seconds() - began;
    printf("%.9f", took);
    for (int each : search->selected) printf(" %d", each);
    putchar('\n'), fflush(stdout);
    delete search;
}

// What is measured: each property alone, and all of them one after another.
constexpr int MEASURED[] = {0, INLINED, NUMBERED, MARKED, READY, SINGLE, OWN, BITS, EIGHT, NUMBERED | MARKED, NUMBERED | MARKED | READY,
    NUMBERED | MARKED | READY | SINGLE, NUMBERED | MARKED | READY | SINGLE | OWN, NUMBERED | MARKED | READY | SINGLE | OWN | BITS,
    NUMBERED | MARKED | READY | SINGLE | OWN | BITS | EIGHT};

template <Policy POLICY, size_t... I> bool find(int properties, int iterations, const Word* seed, std::index_sequence<I...>) {
    return ((MEASURED[I] == properties && (run<POLICY, MEASURED[I]>(iterations, seed), true)) || ...);
}

int main() {
    int policy, properties, iterations;
    Word seed[4];
    auto all = std::make_index_sequence<std::size(MEASURED)>();
    while (scanf("%d %d %d %lu %lu %lu %lu", &policy, &properties, &iterations, seed, seed + 1, seed + 2, seed + 3) == 7) {
        bool ran = policy == NAST2 ? find<NAST2>(properties, iterations, seed, all)
            : policy == EPIC       ? find<EPIC>(properties, iterations, seed, all)
            : policy == RAVE       ? find<RAVE>(properties, iterations, seed, all)
                                   : find<MIX>(properties, iterations, seed, all);
        if (!ran) return 1;
    }
}
