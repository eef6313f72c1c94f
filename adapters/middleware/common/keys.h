/* What is wrong with keys, where security refuses them or nobody is met. The rest of the contract uses it; adapters do not. */
#ifndef CHRONOSEAL_KEYS_H
#define CHRONOSEAL_KEYS_H

#include "contract.h"

/* Prints what keys_check.sh, beside the program, says of the folder of keys among the words of the call; nothing if there is none. */
void keys_check(const struct call *call);

#endif
