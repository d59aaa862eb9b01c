/* SPDX-License-Identifier: BSD-3-Clause */
/* Powers and logarithms from + - * / alone, so that what is derived from them is the same on every machine. */
#ifndef FLOE_BASE_DECIBEL_H
#define FLOE_BASE_DECIBEL_H

/* 10^(db / 20): the ratio of amplitudes. Error below 1e-14 relative; 0 or infinite out of range. */
double floe_amplitude_of_decibel(double db);
/* 20 log10(amplitude), amplitude > 0 and finite. Error below 1e-11. */
double floe_decibel_of_amplitude(double amplitude);

#endif
