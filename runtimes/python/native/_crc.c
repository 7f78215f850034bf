/*
 * The checksum of a frame, that of `zlib.crc32`. Part of `_compiled.c`.
 *
 * Tables for eight bytes at a time take 8 KB, a quarter of the processor's quickest cache, which an app's own work fills in between: where the processor
 * multiplies without carries, a frame is folded instead, as Gopal and others describe ("Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction", Intel, 2009), which takes three numbers.
 */

static uint32_t crc_tables[8][256];

static void make_crc_tables(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        crc_tables[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int table = 1; table < 8; table++) {
            uint32_t crc = crc_tables[table - 1][byte];
            crc_tables[table][byte] = crc >> 8 ^ crc_tables[0][crc & 255];
        }
}

/* Eight bytes at a time, on a machine whose numbers begin with their lowest byte. */
static uint32_t crc_by_tables(const unsigned char *bytes, size_t size)
{
    uint32_t crc = ~0u;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint32_t low, high;
        memcpy(&low, bytes, 4);
        memcpy(&high, bytes + 4, 4);
        low ^= crc;
        crc = crc_tables[7][low & 255] ^ crc_tables[6][low >> 8 & 255] ^ crc_tables[5][low >> 16 & 255] ^ crc_tables[4][low >> 24] ^
              crc_tables[3][high & 255] ^ crc_tables[2][high >> 8 & 255] ^ crc_tables[1][high >> 16 & 255] ^ crc_tables[0][high >> 24];
    }
    for (; size; bytes++, size--)
        crc = crc >> 8 ^ crc_tables[0][(crc ^ *bytes) & 255];
    return ~crc;
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>

#define FOLDS __attribute__((target("pclmul,sse4.1")))

/* `sum` times x^128, plus the next 16 bytes. */
FOLDS static __m128i folded(__m128i sum, const unsigned char *next)
{
    const __m128i by = _mm_set_epi64x(0xccaa009e, 0x1751997d0);
    __m128i product = _mm_xor_si128(_mm_clmulepi64_si128(sum, by, 0x00), _mm_clmulepi64_si128(sum, by, 0x11));
    return _mm_xor_si128(product, _mm_loadu_si128((const __m128i *)next));
}

/* Of at least 16 bytes. */
FOLDS static uint32_t crc_by_folding(const unsigned char *bytes, size_t size)
{
    /* Zeros before the first byte change nothing, so that what is left is a multiple of 16. The sum that a checksum begins with is added to the first four. */
    unsigned char first[32] = {0};
    size_t odd = size & 15;
    memcpy(first + 16 - odd, bytes, 16 + odd);
    for (int index = 0; index < 4; index++)
        first[16 - odd + index] ^= 255;
    __m128i sum = folded(_mm_loadu_si128((const __m128i *)first), first + 16);
    for (bytes += 16 + odd, size -= 16 + odd; size; bytes += 16, size -= 16)
        sum = folded(sum, bytes);
    /* From 128 bits to 64, and to 32 by Barrett's reduction. */
    const __m128i low = _mm_set_epi32(0, ~0, 0, ~0), polynomial = _mm_set_epi64x(0x1f7011641, 0x1db710641);
    sum = _mm_xor_si128(_mm_clmulepi64_si128(sum, _mm_set_epi64x(0, 0xccaa009e), 0x00), _mm_srli_si128(sum, 8));
    sum = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(sum, low), _mm_set_epi64x(0, 0x163cd6124), 0x00), _mm_srli_si128(sum, 4));
    __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(sum, low), polynomial, 0x10);
    sum = _mm_xor_si128(sum, _mm_clmulepi64_si128(_mm_and_si128(quotient, low), polynomial, 0x00));
    return ~(uint32_t)_mm_extract_epi32(sum, 1);
}

static int folds;

static void look_for_folding(void)
{
    __builtin_cpu_init();
    folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

static uint32_t crc_of(const unsigned char *bytes, size_t size)
{
    return folds && size >= 16 ? crc_by_folding(bytes, size) : crc_by_tables(bytes, size);
}
#else
static void look_for_folding(void)
{
}

static uint32_t crc_of(const unsigned char *bytes, size_t size)
{
    return crc_by_tables(bytes, size);
}
#endif
