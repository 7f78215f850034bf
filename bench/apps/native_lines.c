/* Rows 14 and 15: lines to stop at, with variables of several kinds. Argument: how many times. */
#include <stdio.h>
#include <stdlib.h>

struct part {
    int id;
    double weight;
    const char *name;
};

static long work(long number) {
    struct part part = {(int)number, 1.5, "part"};
    long numbers[8] = {number, number + 1};
    long sum = numbers[0]; /* BP: line */
    sum += numbers[1];
    sum += part.id;
    return sum;
}

int main(int argc, char **argv) {
    long times = argc > 1 ? atol(argv[1]) : 1000, total = 0;
    for (long i = 0; i < times; i++) {
        total += work(i);
    }
    printf("%ld\n", total);
    return 0;
}
