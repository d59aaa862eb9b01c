/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of cmocka's interface that our tests use, for GPU machines without cmocka. A test that fails is left
 * by a jump; all others run; the number of failures is returned. */
#ifndef FLOE_SMALL_CMOCKA_H
#define FLOE_SMALL_CMOCKA_H

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
};

#define cmocka_unit_test(f) \
    {                       \
#f, f, NULL, NULL   \
    }
#define cmocka_unit_test_setup_teardown(f, setup, tear) \
    {                                                   \
#f, f, setup, tear                              \
    }
#define cmocka_unit_test_setup(f, setup) \
    {                                    \
#f, f, setup, NULL               \
    }

static jmp_buf small_cmocka_end;
enum { SMALL_CMOCKA_FAILED = 1, SMALL_CMOCKA_SKIPPED = 2 };

static inline void small_cmocka_check(int ok, const char *what, const char *file, int line)
{
    if (ok)
        return;
    printf("%s:%d: %s\n", file, line, what);
    longjmp(small_cmocka_end, SMALL_CMOCKA_FAILED);
}

static inline void small_cmocka_equal(uint64_t a, uint64_t b, int same, const char *what, const char *file, int line)
{
    if ((a == b) == same)
        return;
    printf("%s:%d: %s: %llu and %llu\n", file, line, what, (unsigned long long)a, (unsigned long long)b);
    longjmp(small_cmocka_end, SMALL_CMOCKA_FAILED);
}

#define assert_true(c)             small_cmocka_check(!!(c), #c, __FILE__, __LINE__)
#define assert_false(c)            small_cmocka_check(!(c), "not " #c, __FILE__, __LINE__)
#define assert_non_null(p)         small_cmocka_check((p) != NULL, #p " != NULL", __FILE__, __LINE__)
#define assert_null(p)             small_cmocka_check((p) == NULL, #p " == NULL", __FILE__, __LINE__)
#define assert_int_equal(a, b)     small_cmocka_equal((uint64_t)(a), (uint64_t)(b), 1, #a " == " #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) small_cmocka_equal((uint64_t)(a), (uint64_t)(b), 0, #a " != " #b, __FILE__, __LINE__)
#define assert_ptr_equal(a, b) \
    small_cmocka_check((const void *)(a) == (const void *)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_string_equal(a, b) small_cmocka_check(strcmp((a), (b)) == 0, #a " equals " #b, __FILE__, __LINE__)
#define assert_memory_equal(a, b, n) \
    small_cmocka_check(memcmp((a), (b), (n)) == 0, #a " equals " #b, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, n) \
    small_cmocka_check(memcmp((a), (b), (n)) != 0, #a " differs from " #b, __FILE__, __LINE__)
#define assert_in_range(v, lo, hi) small_cmocka_check((v) >= (lo) && (v) <= (hi), #v " in range", __FILE__, __LINE__)
#define print_message(...)         printf(__VA_ARGS__)
#define print_error(...)           printf(__VA_ARGS__)
#define skip()                     longjmp(small_cmocka_end, SMALL_CMOCKA_SKIPPED)
#define fail()                     small_cmocka_check(0, "failed", __FILE__, __LINE__)
#define fail_msg(...)                                   \
    do {                                                \
        printf("%s:%d: ", __FILE__, __LINE__);          \
        printf(__VA_ARGS__);                            \
        putchar('\n');                                  \
        longjmp(small_cmocka_end, SMALL_CMOCKA_FAILED); \
    } while (0)

static inline int small_cmocka_run_one(const struct CMUnitTest *t)
{
    void *volatile state = NULL;
    int end = setjmp(small_cmocka_end);
    if (end == 0) {
        void *s = NULL;
        if (t->setup && t->setup(&s) != 0)
            return SMALL_CMOCKA_FAILED;
        state = s;
        t->test(&s);
        state = s;
    }
    void *s = state;
    if (t->teardown && t->teardown(&s) != 0)
        end = SMALL_CMOCKA_FAILED;
    return end;
}

static inline int small_cmocka_run(const struct CMUnitTest *tests, size_t ntests, int (*setup)(void **),
                                   int (*teardown)(void **))
{
    void *state = NULL;
    int failed = setup ? setup(&state) != 0 : 0;
    for (size_t i = 0; i < ntests; i++) {
        static const char *const verdicts[] = {"ok", "FAILED", "skipped"};
        int end = small_cmocka_run_one(&tests[i]);
        printf("%-8s %s\n", verdicts[end], tests[i].name);
        fflush(stdout);
        failed += end == SMALL_CMOCKA_FAILED;
    }
    if (teardown)
        failed += teardown(&state) != 0;
    return failed;
}

#define cmocka_run_group_tests(tests, setup, teardown) \
    small_cmocka_run((tests), sizeof(tests) / sizeof *(tests), (setup), (teardown))

#endif
