/* The bodies of a stream's messages, from a file or made up. The rest of the contract uses it; adapters do not. */
#ifndef CHRONOSEAL_BODIES_H
#define CHRONOSEAL_BODIES_H

#include "contract.h"

/* Finds FOLDER/NAME.bodies of a stream, or makes one body of the stream's length where there is no such file or no folder. */
void bodies_find(struct stream *stream, const char *folder);

#endif
