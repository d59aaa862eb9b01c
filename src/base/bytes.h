/* SPDX-License-Identifier: BSD-3-Clause */
/* Little-endian loads and stores on any machine, checked cursors, and overflow-checked sizes. */
#ifndef FLOE_BASE_BYTES_H
#define FLOE_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hd.h"

static inline uint16_t floe_load16(const void *p)
{
    const uint8_t *b = p;
    return (uint16_t)(b[0] | b[1] << 8);
}
static inline uint32_t floe_load32(const void *p)
{
    const uint8_t *b = p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}
static inline uint64_t floe_load64(const void *p)
{
    return (uint64_t)floe_load32(p) | (uint64_t)floe_load32((const uint8_t *)p + 4) << 32;
}
static inline void floe_store16(void *p, uint16_t v)
{
    uint8_t *b = p;
    b[0] = (uint8_t)v;
    b[1] = (uint8_t)(v >> 8);
}
static inline void floe_store32(void *p, uint32_t v)
{
    uint8_t *b = p;
    b[0] = (uint8_t)v;
    b[1] = (uint8_t)(v >> 8);
    b[2] = (uint8_t)(v >> 16);
    b[3] = (uint8_t)(v >> 24);
}
static inline void floe_store64(void *p, uint64_t v)
{
    floe_store32(p, (uint32_t)v);
    floe_store32((uint8_t *)p + 4, (uint32_t)(v >> 32));
}

/* a * b and a + b; false when they do not fit. */
static inline bool floe_mul64(uint64_t a, uint64_t b, uint64_t *product)
{
    if (a && b > UINT64_MAX / a)
        return false;
    *product = a * b;
    return true;
}
static inline bool floe_add64(uint64_t a, uint64_t b, uint64_t *sum)
{
    *sum = a + b;
    return *sum >= a;
}

/* A cursor over untrusted bytes. A read past the end returns 0 (or NULL) and sets bad, which the caller checks once,
 * before it uses what it read for more than arithmetic. */
typedef struct floe_reader {
    const uint8_t *at, *end;
    bool bad;
} floe_reader;

static inline floe_reader floe_reader_of(const void *data, size_t nbytes)
{
    floe_reader r = {data, data ? (const uint8_t *)data + nbytes : (const uint8_t *)data, false};
    return r;
}
static inline size_t floe_reader_left(const floe_reader *r) { return (size_t)(r->end - r->at); }
static inline const uint8_t *floe_read_bytes(floe_reader *r, uint64_t nbytes)
{
    if (r->bad || nbytes > floe_reader_left(r)) {
        r->bad = true;
        return NULL;
    }
    const uint8_t *p = r->at;
    r->at += nbytes;
    return p;
}
static inline uint8_t floe_read8(floe_reader *r)
{
    const uint8_t *p = floe_read_bytes(r, 1);
    return p ? p[0] : 0;
}
static inline uint16_t floe_read16(floe_reader *r)
{
    const uint8_t *p = floe_read_bytes(r, 2);
    return p ? floe_load16(p) : 0;
}
static inline uint32_t floe_read32(floe_reader *r)
{
    const uint8_t *p = floe_read_bytes(r, 4);
    return p ? floe_load32(p) : 0;
}
static inline uint64_t floe_read64(floe_reader *r)
{
    const uint8_t *p = floe_read_bytes(r, 8);
    return p ? floe_load64(p) : 0;
}

/* A cursor over a buffer being written; writing past the end sets bad and writes nothing. */
typedef struct floe_cursor {
    uint8_t *at, *end;
    bool bad;
} floe_cursor;

static inline floe_cursor floe_cursor_of(void *data, size_t nbytes)
{
    floe_cursor c = {data, data ? (uint8_t *)data + nbytes : (uint8_t *)data, false};
    return c;
}
static inline uint8_t *floe_write_space(floe_cursor *c, uint64_t nbytes)
{
    if (c->bad || nbytes > (size_t)(c->end - c->at)) {
        c->bad = true;
        return NULL;
    }
    uint8_t *p = c->at;
    c->at += nbytes;
    return p;
}
static inline void floe_write_bytes(floe_cursor *c, const void *from, uint64_t nbytes)
{
    uint8_t *p = floe_write_space(c, nbytes);
    if (p && nbytes)
        memcpy(p, from, (size_t)nbytes);
}
static inline void floe_write8(floe_cursor *c, uint8_t v)
{
    uint8_t *p = floe_write_space(c, 1);
    if (p)
        *p = v;
}
static inline void floe_write16(floe_cursor *c, uint16_t v)
{
    uint8_t *p = floe_write_space(c, 2);
    if (p)
        floe_store16(p, v);
}
static inline void floe_write32(floe_cursor *c, uint32_t v)
{
    uint8_t *p = floe_write_space(c, 4);
    if (p)
        floe_store32(p, v);
}
static inline void floe_write64(floe_cursor *c, uint64_t v)
{
    uint8_t *p = floe_write_space(c, 8);
    if (p)
        floe_store64(p, v);
}

#endif
