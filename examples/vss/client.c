/* Signs a message at the daemon, has it verified, and prints what came of each check.
 *
 *     cc -std=c99 -Wall -Wextra -Werror -o client client.c && ./client /run/vss
 */
#define _POSIX_C_SOURCE 200809L
#include "chronoseal_vss.h"

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: %s SOCKET\n", arguments[0]);
        return 2;
    }
    struct cvss vss;
    if (cvss_open(&vss, arguments[1]) != CVSS_OK) {
        fprintf(stderr, "no daemon at %s; start it with: chronoseal vss serve vss.toml --socket %s\n", arguments[1], arguments[1]);
        return 2;
    }
    static uint8_t message[4096], answer[8192];
    size_t message_len = sizeof message, answer_len = sizeof answer;
    const char *text = "a cooperative awareness message";
    if (cvss_sign(&vss, CVSS_CAM, (const uint8_t *)text, strlen(text), NULL, message, &message_len) != CVSS_OK) {
        fprintf(stderr, "not signed: %s\n", cvss_error(&vss));
        return 1;
    }
    printf("signed: %zu bytes\n", message_len);
    if (cvss_verify(&vss, 1, CVSS_UNKNOWN, CVSS_UNKNOWN, message, message_len, answer, &answer_len) != CVSS_OK) {
        fprintf(stderr, "not looked at: %s\n", cvss_error(&vss));
        return 1;
    }
    static const char *outcomes[] = { "accepted", "refused", "not verified" };
    static const char *ends[] = { "passed", "failed", "skipped" };
    printf("%s\n", answer[0] < 3 ? outcomes[answer[0]] : "?");
    const uint8_t *at = answer + 1 + 8 + 8;
    for (unsigned left = *at++; left > 0; left--) {
        unsigned name_len = at[0];
        const uint8_t *name = at + 1, *why = name + name_len + 1;
        unsigned why_len = name[name_len];
        const uint8_t *end = why + why_len;
        printf("  %-16.*s %-8s %6u ns %.*s\n", (int)name_len, (const char *)name, ends[end[0] % 3], cvss_get32(end + 1),
               (int)why_len, (const char *)why);
        at = end + 5;
    }
    cvss_close(&vss);
    return answer[0];
}
