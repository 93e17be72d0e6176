/* Links the static library into a program that has nothing of Rust's standard library. */
#include <stdio.h>

int commute_no_std_check(void);

int main(void) {
    int failed = commute_no_std_check();
    if (failed) {
        fprintf(stderr, "no_std: check %d failed\n", failed);
        return 1;
    }
    puts("no_std: ok");
    return 0;
}
