/* What gen-data is measured against: a plain loop over glibc's rand() that writes the same bytes.
 *
 * usage: plain narrow|wide ROWS
 *
 * Rows are put together in one buffer and written a mebibyte at a time, so that the loop itself is what costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char buffer[(1 << 20) + 4096];
static size_t used;

static void letters(long width)
{
    if (width == 0 || width > 256)
        width = 256;
    for (long i = 0; i < width; i++)
        buffer[used++] = 'a' + rand() % 25;
}

static void number(long value)
{
    used += sprintf(buffer + used, "%ld", value);
}

static void end_row(void)
{
    buffer[used++] = '\n';
    if (used >= 1 << 20) {
        fwrite(buffer, 1, used, stdout);
        used = 0;
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: plain narrow|wide ROWS\n");
        return 2;
    }
    int wide = strcmp(argv[1], "wide") == 0;
    long rows = atol(argv[2]);
    for (long row = 1; row <= rows; row++) {
        letters(12);
        number(row);
        buffer[used++] = ',';
        letters(25);
        buffer[used++] = ',';
        for (int address = 0; wide && address < 4; address++) {
            letters(rand() % 255);
            buffer[used++] = ',';
        }
        number(row);
        buffer[used++] = ',';
        number(rand());
        end_row();
    }
    fwrite(buffer, 1, used, stdout);
    return 0;
}
