#define _GNU_SOURCE
#include "keys.h"

#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *folder_of(const struct call *call) {
    for (int i = 0; i < call->words_count; i++) {
        char key[PATH_MAX];
        if (snprintf(key, sizeof key, "%s/key.pem", call->words[i]) < (int)sizeof key && access(key, R_OK) == 0) {
            return call->words[i];
        }
    }
    return NULL;
}

void keys_check(const struct call *call) {
    static const char name[] = "/keys_check.sh";
    const char *folder = folder_of(call);
    char script[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", script, sizeof script - sizeof name);
    char *end = length > 0 ? memrchr(script, '/', (size_t)length) : NULL;
    if (folder == NULL || end == NULL) {
        return;
    }
    memcpy(end, name, sizeof name);
    char *words[] = {script, (char *)folder, NULL};
    pid_t child;
    fflush(NULL);
    if (posix_spawn(&child, script, NULL, NULL, words, environ) == 0) {
        waitpid(child, NULL, 0);
    }
}
