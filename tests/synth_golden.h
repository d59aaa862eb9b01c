/* SPDX-License-Identifier: BSD-3-Clause */
/* What the bytes of the test fields have to be: FNV-1a of pieces with seed 1. A change of a formula is a new row here,
 * and every measurement made with the old field is void. */
#ifndef TESTS_SYNTH_GOLDEN_H
#define TESTS_SYNTH_GOLDEN_H

#include <floe/floe.h>

/* A piece of a field. The last ones lie past 2^32 elements; 601 and 1301 are rows of more than one segment. */
typedef struct piece {
    uint32_t rank;
    uint64_t shape[4];
    uint64_t first, count;
} piece;

#define NPIECES 6
static const piece pieces[NPIECES] = {
    {1, {1301}, 0, 1301},
    {2, {11, 601}, 0, 6611},
    {3, {13, 17, 19}, 0, 4199},
    {4, {3, 5, 7, 11}, 0, 1155},
    {3, {2000, 2000, 2000}, UINT64_C(5000001700), 777},
    {1, {UINT64_C(1) << 35}, (UINT64_C(1) << 34) + 300, 777},
};

typedef struct golden {
    const char *kind;
    floe_dtype dtype;
    uint64_t hash[NPIECES];
} golden;

/* clang-format off */
static const golden goldens[] = {
    {"turbulence", FLOE_F32,
     {0xdd887062e911bd53, 0x956e07a650606a6d, 0x9d38f568e4bee572,
      0x1f37a0651924d84c, 0x67fa8e6ae56a0d93, 0x5bf4037c371165de}},
    {"turbulence", FLOE_F64,
     {0xdb442cfe4a640e02, 0x89fef7e69a14c5c8, 0xdd7762e6a771a680,
      0x5efdce94eddfc836, 0xed3b5d4b66b36d98, 0xac404f6c16e386f6}},
    {"seismic", FLOE_F32,
     {0xc90d425494d3a1dc, 0x473f4202e9576aff, 0x9716e1dfd76ef275,
      0x23c9bc1afc3c70d7, 0x80cf1cb17d353e75, 0x80cf1cb17d353e75}},
    {"seismic", FLOE_F64,
     {0xd7f52ae44b5ae380, 0x159cf31ecfd87ab4, 0xd5e49f457cc0885e,
      0xd03bc80b1ddfc4f2, 0x68a836d566059ec5, 0x68a836d566059ec5}},
    {"lognormal", FLOE_F32,
     {0x321135be9605d995, 0x5010134b12cffe98, 0x0ec782fdabb6488b,
      0x3bcca8c44a3926e4, 0x532e0b6f4e5a05cf, 0x38396c27c93c22b0}},
    {"lognormal", FLOE_F64,
     {0x8573e97957b1e434, 0x8392203ecaceb7b9, 0x7a064f94860c736d,
      0x354acaa1e24bf403, 0x7cc0cdd3db7ce956, 0x34b65d685216b385}},
    {"mixing", FLOE_F32,
     {0xf0739355e5f4b5ef, 0x47d5730244ad24d3, 0x68c343a63d34d74b,
      0xa017c0f4b935a96c, 0xcb44ddd9b1e0c734, 0xa317d1be721f1bd8}},
    {"mixing", FLOE_F64,
     {0x443a61d005a5fcd4, 0x61fef7c6771881e3, 0x4cc7249e3d393741,
      0xbc46ee7325c948be, 0x644560aafebd0ff6, 0x3fb9396ef468cd38}},
    {"weather", FLOE_F32,
     {0x576642dfab514d1e, 0xf091fd9d5ba2bf6e, 0x4c1e42dee10368c6,
      0x455a81387b0c9d21, 0x45fb00a47f277de8, 0xc9ab438c71e937a9}},
    {"weather", FLOE_F64,
     {0x72c7acde06de8f6a, 0x76ac1afc435189bf, 0xb5c78d336d118ef6,
      0x4b712c7e6b1a2d48, 0x09daaf2e241135a7, 0x323b6251b882342a}},
    {"orbitals", FLOE_F32,
     {0x757b4871ca1f3886, 0xeca625dd0ae3d868, 0xb02d3509280c4826,
      0xbce24483655dc4d5, 0x8395db697cf750ab, 0x3fb4e53fac75087a}},
    {"orbitals", FLOE_F64,
     {0x5ffb3a1f1788c6c5, 0x9f5bb43175cb5f34, 0xd7cc56cf8e2f0474,
      0x0e5cbc120f558060, 0x29b410c5127d0b6b, 0xd9486f98f34e26ca}},
    {"particles", FLOE_F32,
     {0x9233e0d4d9f0f6ba, 0x87e1fe695d749bd9, 0x819be3fef066d71c,
      0x07ca22ad683733f3, 0xf98fbbe4a9dc7d18, 0x50ba6e570b5d37ec}},
    {"particles", FLOE_F64,
     {0xad37d2339ab90f28, 0xa957da20e65043e1, 0x42f44e56f228676b,
      0x3113086eeb34605d, 0xdd0a257e74e37fe3, 0xcbb55718ccb00bb3}},
    {"terrain", FLOE_F32,
     {0xd8b60b80e4868855, 0x1e8774a5f9fd0e5f, 0xa7b504dbb390d822,
      0xac5d72c6a7d8db00, 0xe9f846c6bce01db6, 0xb3c21d9a5e7be409}},
    {"terrain", FLOE_F64,
     {0x750e5c702d309838, 0x819274d77b251dab, 0x6f0677f8becdae4e,
      0x8d7f2001db071734, 0xb173dc2e166497d4, 0x87852ec12b1b0516}},
    {"fill", FLOE_F32,
     {0x6428a439c75dec58, 0xfe501fbeb0682249, 0x6bd47616c0f30d34,
      0x8347fadcd94c24b1, 0x81d5f18be83dec3c, 0x4b77315eb2d61f41}},
    {"fill", FLOE_F64,
     {0x1514b5cb4f2bdd6b, 0x949015d2e0a5f825, 0x8c1d457b6d997968,
      0xf916c6db46836526, 0x24384fdc48875522, 0xd93453c4b4da314a}},
    {"packed", FLOE_F32,
     {0xe098427b64ba8373, 0x180efa7ef8835a6c, 0x689d7f4bcba0919f,
      0x16b6289b489b77bc, 0x6ddbdade9e4165fe, 0x06c587d1b21fef33}},
    {"packed", FLOE_F64,
     {0x8a48118846d79679, 0x564da75e1886cd12, 0x34916444857ff715,
      0xcf5ee66858a9b325, 0xe805ff72cfe21764, 0x280729a62f584036}},
    {"spikes", FLOE_F32,
     {0xa8724f807ac1fd66, 0x66a77be556704c69, 0xe1fc1561784c514e,
      0x94a85df7fff62243, 0x92ad9be05d447769, 0xc7f641dcdaabcc05}},
    {"spikes", FLOE_F64,
     {0x0e186b30fe4193b5, 0xd69a7ed580b1f945, 0x67781459780b7cd4,
      0x65ddda5c8fe6c2c0, 0x719d9e90f848ca54, 0x739443de5561853a}},
    {"ramp", FLOE_F32,
     {0x0feb264f7f3f1a18, 0x7c361dc009ae78fa, 0x94426cbe73e3edf6,
      0x2b15122ae54dc382, 0xd385c9aeff581f50, 0x0a3b784c8e2a50de}},
    {"ramp", FLOE_F64,
     {0x478b4806530bca2c, 0xe97c731f2b86b65d, 0x3ebb6c1b138b0ca9,
      0x176e8528ec5cbcdf, 0x577c79107f64956b, 0xa49de741c9172504}},
    {"steps", FLOE_F32,
     {0xf126c0337c9f0724, 0x7e5e9f5fb35b8a90, 0xd0c50b9268828df0,
      0x51fe202b891f7bb0, 0x648941cc6237408d, 0xc70cd05b3dee62d0}},
    {"steps", FLOE_F64,
     {0x0907093852b95072, 0x21bdaedfc7a9854a, 0x098538b1891c89f9,
      0x1e8937dc503ffda9, 0xfa74c55d291b6e5b, 0xf4cc620d77d7ef42}},
    {"constant", FLOE_F32,
     {0xe7f5b1fa4402585c, 0x5143be49be00b880, 0x6cb3898afe119c08,
      0x6e45f56af3080e20, 0xf398f30e90c9c3c4, 0xf398f30e90c9c3c4}},
    {"constant", FLOE_F64,
     {0x62f15fee823bb895, 0x18f7bd2e78abf635, 0x680d870d8c10def5,
      0x10ddb6a540d48535, 0x59eb82abd2e32555, 0x59eb82abd2e32555}},
    {"noise", FLOE_F32,
     {0x5bd53cbdf239d6ed, 0x1f03c1a2868998d2, 0xba6e5d53cc1ec69b,
      0xd39153fd8fe02446, 0xa2253089588722f3, 0xa3b7be183fc7b881}},
    {"noise", FLOE_F64,
     {0x4215c94f0c2fd94f, 0x10b605244d83669a, 0x93b61410a3173dfa,
      0xb497d2647f35d92c, 0x995af44f78717e5e, 0xc2f9f52d96c00335}},
    {"hostile", FLOE_F32,
     {0x3671eba7f8a12568, 0x3921f779fd231bde, 0x6ea8990579e664a9,
      0xf5eda3a0da5662bf, 0xcbf2ea0d345f6c66, 0xa0b6dbe86c2961a6}},
    {"hostile", FLOE_F64,
     {0x0494c410377251b7, 0xc6ba6d4949605418, 0x036f75904307271e,
      0x18357fb6f3403fb7, 0x43c1e201db12bb53, 0xb1edf9a7d56bc1e4}},
};
/* clang-format on */

#endif
