/* Room for datagrams that wait at a receiver. */
#ifndef CHRONOSEAL_BUFFERS_H
#define CHRONOSEAL_BUFFERS_H

#include "contract.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counts what has no room from here on. */
void buffers_open(void);

/* Prints, if it is so, that datagrams found no room since then, with the setting that mends it. */
void buffers_close(const struct call *call);

#ifdef __cplusplus
}
#endif
#endif
