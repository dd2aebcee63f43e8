/* What tpcc-mysql sends, from its documented statement pattern: `load` as its loader does, one row per prepared INSERT on
 * one connection; `run` as its load generator does, prepared statements on one connection per thread, text of all results
 * fetched. Written anew for this benchmark: it knows nothing of retry policies, reports or response times.
 *
 * usage: tpcc_mysql load PORT DATABASE WAREHOUSES
 *        tpcc_mysql run PORT DATABASE WAREHOUSES CONNECTIONS SECONDS      prints transactions, New-Orders and failures
 */
#include <mysql.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITEMS = 100000, CUSTOMERS = 3000, ORDERS = 3000, DISTRICTS = 10, COLUMNS = 16, WIDTH = 512, ATTEMPTS = 2000 };

enum {
    CUSTOMER_WAREHOUSE, NEXT_ORDER, TAKE_ORDER, ADD_ORDER, ADD_NEW_ORDER, ITEM, STOCK, SET_STOCK, ADD_LINE,
    PAY_WAREHOUSE, WAREHOUSE, PAY_DISTRICT, DISTRICT, COUNT_NAME, IDS_OF_NAME, CUSTOMER, CUSTOMER_DATA, PAY_BAD, PAY_GOOD,
    ADD_HISTORY, STATUS_OF_NAME, STATUS_OF_ID, LAST_ORDER, LINES, OLDEST, DELETE_NEW_ORDER, ORDER_CUSTOMER, SET_CARRIER,
    SET_DELIVERED, AMOUNT, DELIVER, DISTRICT_NEXT, RECENT_ITEMS, LOW_STOCK, STATEMENTS
};

static const char *const SQL[STATEMENTS] = {
    [CUSTOMER_WAREHOUSE] = "select c_discount, c_last, c_credit, w_tax from customer, warehouse where w_id = ? and c_w_id = w_id and c_d_id = ? and c_id = ?",
    [NEXT_ORDER] = "select d_next_o_id, d_tax from district where d_id = ? and d_w_id = ? for update",
    [TAKE_ORDER] = "update district set d_next_o_id = ? + 1 where d_id = ? and d_w_id = ?",
    [ADD_ORDER] = "insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) values (?, ?, ?, ?, ?, ?, ?)",
    [ADD_NEW_ORDER] = "insert into new_orders (no_o_id, no_d_id, no_w_id) values (?, ?, ?)",
    [ITEM] = "select i_price, i_name, i_data from item where i_id = ?",
    [STOCK] = "select s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 from stock where s_i_id = ? and s_w_id = ? for update",
    [SET_STOCK] = "update stock set s_quantity = ? where s_i_id = ? and s_w_id = ?",
    [ADD_LINE] = "insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [PAY_WAREHOUSE] = "update warehouse set w_ytd = w_ytd + ? where w_id = ?",
    [WAREHOUSE] = "select w_street_1, w_street_2, w_city, w_state, w_zip, w_name from warehouse where w_id = ?",
    [PAY_DISTRICT] = "update district set d_ytd = d_ytd + ? where d_w_id = ? and d_id = ?",
    [DISTRICT] = "select d_street_1, d_street_2, d_city, d_state, d_zip, d_name from district where d_w_id = ? and d_id = ?",
    [COUNT_NAME] = "select count(c_id) from customer where c_w_id = ? and c_d_id = ? and c_last = ?",
    [IDS_OF_NAME] = "select c_id from customer where c_w_id = ? and c_d_id = ? and c_last = ? order by c_first",
    [CUSTOMER] = "select c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_since from customer where c_w_id = ? and c_d_id = ? and c_id = ? for update",
    [CUSTOMER_DATA] = "select c_data from customer where c_w_id = ? and c_d_id = ? and c_id = ?",
    [PAY_BAD] = "update customer set c_balance = ?, c_data = ? where c_w_id = ? and c_d_id = ? and c_id = ?",
    [PAY_GOOD] = "update customer set c_balance = ? where c_w_id = ? and c_d_id = ? and c_id = ?",
    [ADD_HISTORY] = "insert into history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) values (?, ?, ?, ?, ?, ?, ?, ?)",
    [STATUS_OF_NAME] = "select c_balance, c_first, c_middle, c_last, c_id from customer where c_w_id = ? and c_d_id = ? and c_last = ? order by c_first",
    [STATUS_OF_ID] = "select c_balance, c_first, c_middle, c_last from customer where c_w_id = ? and c_d_id = ? and c_id = ?",
    [LAST_ORDER] = "select o_id, o_entry_d, coalesce(o_carrier_id, 0) from orders where o_w_id = ? and o_d_id = ? and o_c_id = ? and o_id = (select max(o_id) from orders where o_w_id = ? and o_d_id = ? and o_c_id = ?)",
    [LINES] = "select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d from order_line where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?",
    [OLDEST] = "select coalesce(min(no_o_id), 0) from new_orders where no_d_id = ? and no_w_id = ?",
    [DELETE_NEW_ORDER] = "delete from new_orders where no_o_id = ? and no_d_id = ? and no_w_id = ?",
    [ORDER_CUSTOMER] = "select o_c_id from orders where o_id = ? and o_d_id = ? and o_w_id = ?",
    [SET_CARRIER] = "update orders set o_carrier_id = ? where o_id = ? and o_d_id = ? and o_w_id = ?",
    [SET_DELIVERED] = "update order_line set ol_delivery_d = ? where ol_o_id = ? and ol_d_id = ? and ol_w_id = ?",
    [AMOUNT] = "select sum(ol_amount) from order_line where ol_o_id = ? and ol_d_id = ? and ol_w_id = ?",
    [DELIVER] = "update customer set c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 where c_id = ? and c_d_id = ? and c_w_id = ?",
    [DISTRICT_NEXT] = "select d_next_o_id from district where d_id = ? and d_w_id = ?",
    [RECENT_ITEMS] = "select distinct ol_i_id from order_line where ol_w_id = ? and ol_d_id = ? and ol_o_id < ? and ol_o_id >= (? - 20)",
    [LOW_STOCK] = "select count(*) from stock where s_w_id = ? and s_i_id = ? and s_quantity < ?",
};

typedef struct {
    MYSQL *link;
    MYSQL_STMT *statements[STATEMENTS];
    char columns[COLUMNS][WIDTH]; /* the row that was fetched last, as text */
    unsigned seed;
    int warehouses;
    long done, new_orders, failures;
} Terminal;

static volatile int stopping;
static char now_text[20];

static void give_up(MYSQL *link, const char *what) {
    fprintf(stderr, "%s: %s\n", what, mysql_error(link));
    exit(1);
}

static MYSQL *open_link(int port, const char *database) {
    MYSQL *link = mysql_init(NULL);
    if (!mysql_real_connect(link, "127.0.0.1", "peer", "", database, port, NULL, 0)) give_up(link, "connect");
    mysql_autocommit(link, 0);
    return link;
}

static MYSQL_STMT *prepare(MYSQL *link, const char *sql) {
    MYSQL_STMT *statement = mysql_stmt_init(link);
    if (mysql_stmt_prepare(statement, sql, strlen(sql))) {
        fprintf(stderr, "%s: %s\n", sql, mysql_stmt_error(statement));
        exit(1);
    }
    return statement;
}

/* Binds and executes; `kinds` has one letter per parameter: i int, f float, s text. 0 when it succeeded. */
static int execute(MYSQL_STMT *statement, const char *kinds, va_list values) {
    MYSQL_BIND binds[24];
    int ints[24];
    float floats[24];
    memset(binds, 0, sizeof binds);
    for (int at = 0; kinds[at]; at++) {
        if (kinds[at] == 'i') {
            ints[at] = va_arg(values, int);
            binds[at].buffer_type = MYSQL_TYPE_LONG;
            binds[at].buffer = &ints[at];
        } else if (kinds[at] == 'f') {
            floats[at] = va_arg(values, double);
            binds[at].buffer_type = MYSQL_TYPE_FLOAT;
            binds[at].buffer = &floats[at];
        } else {
            char *text = va_arg(values, char *);
            binds[at].buffer_type = MYSQL_TYPE_STRING;
            binds[at].buffer = text;
            binds[at].buffer_length = strlen(text);
        }
    }
    return mysql_stmt_bind_param(statement, binds) || mysql_stmt_execute(statement);
}

static unsigned draw(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static int between(unsigned *seed, int low, int high) { return low + (int)(draw(seed) % (unsigned)(high - low + 1)); }

static int skewed(unsigned *seed, int a, int low, int high) {
    return ((between(seed, 0, a) | between(seed, low, high)) + a / 3) % (high - low + 1) + low;
}

static char *letters(unsigned *seed, int low, int high, char *out) {
    static const char CHARACTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    int length = between(seed, low, high);
    for (int at = 0; at < length; at++) out[at] = CHARACTERS[between(seed, 0, 61)];
    out[length] = 0;
    return out;
}

static char *last_name(int number, char *out) {
    static const char *const SYLLABLES[] = {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"};
    sprintf(out, "%s%s%s", SYLLABLES[number / 100], SYLLABLES[number / 10 % 10], SYLLABLES[number % 10]);
    return out;
}

/* ---- the loader ---- */

static void add(MYSQL_STMT *statement, const char *kinds, ...) {
    va_list values;
    va_start(values, kinds);
    if (execute(statement, kinds, values)) {
        fprintf(stderr, "insert: %s\n", mysql_stmt_error(statement));
        exit(1);
    }
    va_end(values);
}

static void load_items(MYSQL *link, unsigned *seed) {
    char name[30], data[60];
    MYSQL_STMT *item = prepare(link, "insert into item values (?, ?, ?, ?, ?)");
    for (int id = 1; id <= ITEMS; id++)
        add(item, "iisfs", id, between(seed, 1, 10000), letters(seed, 14, 24, name), between(seed, 100, 10000) / 100.0,
            letters(seed, 26, 50, data));
    mysql_commit(link);
}

static void load_stock(MYSQL *link, int warehouse, unsigned *seed) {
    char dist[10][30], data[60];
    MYSQL_STMT *stock = prepare(link, "insert into stock values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?)");
    for (int id = 1; id <= ITEMS; id++) {
        for (int at = 0; at < 10; at++) letters(seed, 24, 24, dist[at]);
        add(stock, "iiisssssssssss", id, warehouse, between(seed, 10, 100), dist[0], dist[1], dist[2], dist[3], dist[4],
            dist[5], dist[6], dist[7], dist[8], dist[9], letters(seed, 26, 50, data));
    }
    mysql_commit(link);
}

static void load_places(MYSQL *link, int warehouse, unsigned *seed) {
    char text[6][30];
    MYSQL_STMT *place = prepare(link, "insert into warehouse values (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    MYSQL_STMT *district = prepare(link, "insert into district values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    add(place, "issssssff", warehouse, letters(seed, 6, 10, text[0]), letters(seed, 10, 20, text[1]),
        letters(seed, 10, 20, text[2]), letters(seed, 10, 20, text[3]), letters(seed, 2, 2, text[4]), "123411111",
        between(seed, 10, 20) / 100.0, 300000.0);
    for (int id = 1; id <= DISTRICTS; id++)
        add(district, "iissssssffi", id, warehouse, letters(seed, 6, 10, text[0]), letters(seed, 10, 20, text[1]),
            letters(seed, 10, 20, text[2]), letters(seed, 10, 20, text[3]), letters(seed, 2, 2, text[4]), "123411111",
            between(seed, 10, 20) / 100.0, 30000.0, 3001);
    mysql_commit(link);
}

static void load_customers(MYSQL *link, int warehouse, int district, unsigned *seed) {
    char text[6][30], last[30], data[512];
    MYSQL_STMT *customer = prepare(link, "insert into customer values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    MYSQL_STMT *history = prepare(link, "insert into history values (?, ?, ?, ?, ?, ?, ?, ?)");
    for (int id = 1; id <= CUSTOMERS; id++) {
        last_name(id <= 1000 ? id - 1 : skewed(seed, 255, 0, 999), last);
        add(customer, "iiissssssssssssfffiis", id, district, warehouse, letters(seed, 8, 16, text[0]), "OE", last,
            letters(seed, 10, 20, text[1]), letters(seed, 10, 20, text[2]), letters(seed, 10, 20, text[3]),
            letters(seed, 2, 2, text[4]), "123411111", letters(seed, 16, 16, text[5]), now_text,
            between(seed, 0, 1) ? "GC" : "BC", "50000", between(seed, 0, 50) / 100.0, -10.0, 10.0, 1, 0,
            letters(seed, 300, 500, data));
        add(history, "iiiiisfs", id, district, warehouse, district, warehouse, now_text, 10.0, letters(seed, 12, 24, text[0]));
    }
    mysql_commit(link);
}

static void load_orders(MYSQL *link, int warehouse, int district, unsigned *seed) {
    char dist[30];
    static int customers[ORDERS];
    MYSQL_STMT *order = prepare(link, "insert into orders values (?, ?, ?, ?, ?, ?, ?, 1)");
    MYSQL_STMT *open_order = prepare(link, "insert into orders values (?, ?, ?, ?, ?, null, ?, 1)");
    MYSQL_STMT *new_order = prepare(link, "insert into new_orders values (?, ?, ?)");
    MYSQL_STMT *line = prepare(link, "insert into order_line values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    MYSQL_STMT *open_line = prepare(link, "insert into order_line values (?, ?, ?, ?, ?, ?, null, ?, ?, ?)");
    for (int at = 0; at < ORDERS; at++) customers[at] = at + 1;
    for (int at = ORDERS - 1; at > 0; at--) {
        int other = between(seed, 0, at), kept = customers[at];
        customers[at] = customers[other];
        customers[other] = kept;
    }
    for (int id = 1; id <= ORDERS; id++) {
        int lines = between(seed, 5, 15), is_open = id > 2100;
        if (is_open) {
            add(open_order, "iiiisi", id, district, warehouse, customers[id - 1], now_text, lines);
            add(new_order, "iii", id, district, warehouse);
        } else
            add(order, "iiiisii", id, district, warehouse, customers[id - 1], now_text, between(seed, 1, 10), lines);
        for (int number = 1; number <= lines; number++) {
            letters(seed, 24, 24, dist);
            int item = between(seed, 1, ITEMS);
            if (is_open)
                add(open_line, "iiiiiiifs", id, district, warehouse, number, item, warehouse, 5,
                    between(seed, 10, 10000) / 100.0, dist);
            else
                add(line, "iiiiiisifs", id, district, warehouse, number, item, warehouse, now_text, 5, 0.0, dist);
        }
    }
    mysql_commit(link);
}

static int load(int port, const char *database, int warehouses) {
    unsigned seed = 1;
    MYSQL *link = open_link(port, database);
    mysql_query(link, "set unique_checks = 0");
    mysql_query(link, "set foreign_key_checks = 0");
    load_items(link, &seed);
    for (int warehouse = 1; warehouse <= warehouses; warehouse++) {
        load_stock(link, warehouse, &seed);
        load_places(link, warehouse, &seed);
    }
    for (int warehouse = 1; warehouse <= warehouses; warehouse++)
        for (int district = 1; district <= DISTRICTS; district++) load_customers(link, warehouse, district, &seed);
    for (int warehouse = 1; warehouse <= warehouses; warehouse++)
        for (int district = 1; district <= DISTRICTS; district++) load_orders(link, warehouse, district, &seed);
    mysql_close(link);
    return 0;
}

/* ---- the terminals ---- */

/* Executes a statement; of a query the first row goes to the columns. The number of rows, or -1. */
static int ask(Terminal *terminal, int which, const char *kinds, ...) {
    MYSQL_STMT *statement = terminal->statements[which];
    va_list values;
    va_start(values, kinds);
    int failed = execute(statement, kinds, values);
    va_end(values);
    if (failed) return -1;
    unsigned count = mysql_stmt_field_count(statement);
    if (count == 0) return 0;
    MYSQL_BIND binds[COLUMNS];
    my_bool nulls[COLUMNS];
    unsigned long lengths[COLUMNS];
    memset(binds, 0, sizeof binds);
    for (unsigned at = 0; at < count; at++) {
        binds[at].buffer_type = MYSQL_TYPE_STRING;
        binds[at].buffer = terminal->columns[at];
        binds[at].buffer_length = WIDTH - 1;
        binds[at].is_null = &nulls[at];
        binds[at].length = &lengths[at];
    }
    if (mysql_stmt_bind_result(statement, binds) || mysql_stmt_store_result(statement)) return -1;
    int rows = mysql_stmt_num_rows(statement);
    if (rows > 0 && mysql_stmt_fetch(statement) == 0)
        for (unsigned at = 0; at < count; at++) terminal->columns[at][nulls[at] ? 0 : lengths[at]] = 0;
    return rows;
}

static int number(Terminal *terminal, int column) { return atoi(terminal->columns[column]); }

/* The middle one of the rows that the last query left. */
static void to_middle(Terminal *terminal, int which, int rows) {
    for (int at = 1; at < (rows + 1) / 2; at++) mysql_stmt_fetch(terminal->statements[which]);
}

static void done_with(Terminal *terminal, int which) { mysql_stmt_free_result(terminal->statements[which]); }

#define STEP(...) do { if (ask(terminal, __VA_ARGS__) < 0) return -1; } while (0)
#define READ(which, ...) do { if (ask(terminal, which, __VA_ARGS__) < 0) return -1; done_with(terminal, which); } while (0)

typedef struct { int item, supply, quantity; } Line;

static int by_stock(const void *a, const void *b) {
    const Line *one = a, *other = b;
    return one->supply != other->supply ? one->supply - other->supply : one->item - other->item;
}

static int new_order(Terminal *terminal) {
    unsigned *seed = &terminal->seed;
    int warehouse = between(seed, 1, terminal->warehouses), district = between(seed, 1, DISTRICTS);
    int customer = skewed(seed, 1023, 1, CUSTOMERS), count = between(seed, 5, 15), rolls_back = between(seed, 1, 100) == 1;
    int is_local = 1;
    Line lines[15];
    for (int at = 0; at < count; at++) {
        lines[at].item = skewed(seed, 8191, 1, ITEMS);
        lines[at].supply = warehouse;
        if (terminal->warehouses > 1 && between(seed, 1, 100) == 1) {
            lines[at].supply = warehouse % terminal->warehouses + 1;
            is_local = 0;
        }
        lines[at].quantity = between(seed, 1, 10);
    }
    if (rolls_back) lines[count - 1].item = ITEMS + 1;
    qsort(lines, count, sizeof *lines, by_stock);
    READ(CUSTOMER_WAREHOUSE, "iii", warehouse, district, customer);
    READ(NEXT_ORDER, "ii", district, warehouse);
    int order = number(terminal, 0);
    STEP(TAKE_ORDER, "iii", order, district, warehouse);
    STEP(ADD_ORDER, "iiiisii", order, district, warehouse, customer, now_text, count, is_local);
    STEP(ADD_NEW_ORDER, "iii", order, district, warehouse);
    for (int at = 0; at < count; at++) {
        int rows = ask(terminal, ITEM, "i", lines[at].item);
        if (rows < 0) return -1;
        double price = atof(terminal->columns[0]);
        done_with(terminal, ITEM);
        if (rows == 0) return mysql_rollback(terminal->link) ? -1 : 0;
        READ(STOCK, "ii", lines[at].item, lines[at].supply);
        int quantity = number(terminal, 0);
        quantity = quantity > lines[at].quantity ? quantity - lines[at].quantity : quantity - lines[at].quantity + 91;
        char dist[30];
        snprintf(dist, sizeof dist, "%.24s", terminal->columns[1 + district]);
        STEP(SET_STOCK, "iii", quantity, lines[at].item, lines[at].supply);
        STEP(ADD_LINE, "iiiiiiifs", order, district, warehouse, at + 1, lines[at].item, lines[at].supply, lines[at].quantity,
             lines[at].quantity * price, dist);
    }
    return mysql_commit(terminal->link) ? -1 : 0;
}

static int payment(Terminal *terminal) {
    unsigned *seed = &terminal->seed;
    int warehouse = between(seed, 1, terminal->warehouses), district = between(seed, 1, DISTRICTS);
    int customer = skewed(seed, 1023, 1, CUSTOMERS), its_warehouse = warehouse, its_district = district;
    double amount = between(seed, 100, 500000) / 100.0;
    char last[30], data[WIDTH], text[30];
    if (terminal->warehouses > 1 && between(seed, 1, 100) > 85) {
        its_warehouse = warehouse % terminal->warehouses + 1;
        its_district = between(seed, 1, DISTRICTS);
    }
    STEP(PAY_WAREHOUSE, "fi", amount, warehouse);
    READ(WAREHOUSE, "i", warehouse);
    STEP(PAY_DISTRICT, "fii", amount, warehouse, district);
    READ(DISTRICT, "ii", warehouse, district);
    if (between(seed, 1, 100) <= 60) {
        last_name(skewed(seed, 255, 0, 999), last);
        READ(COUNT_NAME, "iis", its_warehouse, its_district, last);
        int rows = ask(terminal, IDS_OF_NAME, "iis", its_warehouse, its_district, last);
        if (rows < 0) return -1;
        to_middle(terminal, IDS_OF_NAME, rows);
        if (rows > 0) customer = number(terminal, 0);
        done_with(terminal, IDS_OF_NAME);
    }
    READ(CUSTOMER, "iii", its_warehouse, its_district, customer);
    double balance = atof(terminal->columns[12]) - amount;
    if (strstr(terminal->columns[9], "BC")) {
        READ(CUSTOMER_DATA, "iii", its_warehouse, its_district, customer);
        snprintf(data, 500, "| %4d %2d %4d %2d %4d $%7.2f %.450s", customer, its_district, its_warehouse, district, warehouse,
                 amount, terminal->columns[0]);
        STEP(PAY_BAD, "fsiii", balance, data, its_warehouse, its_district, customer);
    } else
        STEP(PAY_GOOD, "fiii", balance, its_warehouse, its_district, customer);
    STEP(ADD_HISTORY, "iiiiisfs", its_district, its_warehouse, customer, district, warehouse, now_text, amount,
         letters(seed, 12, 24, text));
    return mysql_commit(terminal->link) ? -1 : 0;
}

static int order_status(Terminal *terminal) {
    unsigned *seed = &terminal->seed;
    int warehouse = between(seed, 1, terminal->warehouses), district = between(seed, 1, DISTRICTS);
    int customer = skewed(seed, 1023, 1, CUSTOMERS);
    char last[30];
    if (between(seed, 1, 100) <= 60) {
        last_name(skewed(seed, 255, 0, 999), last);
        READ(COUNT_NAME, "iis", warehouse, district, last);
        int rows = ask(terminal, STATUS_OF_NAME, "iis", warehouse, district, last);
        if (rows < 0) return -1;
        to_middle(terminal, STATUS_OF_NAME, rows);
        if (rows > 0) customer = number(terminal, 4);
        done_with(terminal, STATUS_OF_NAME);
    } else
        READ(STATUS_OF_ID, "iii", warehouse, district, customer);
    READ(LAST_ORDER, "iiiiii", warehouse, district, customer, warehouse, district, customer);
    int order = number(terminal, 0);
    int rows = ask(terminal, LINES, "iii", warehouse, district, order);
    if (rows < 0) return -1;
    for (int at = 1; at < rows; at++) mysql_stmt_fetch(terminal->statements[LINES]);
    done_with(terminal, LINES);
    return mysql_commit(terminal->link) ? -1 : 0;
}

static int deliver(Terminal *terminal) {
    unsigned *seed = &terminal->seed;
    int warehouse = between(seed, 1, terminal->warehouses), carrier = between(seed, 1, 10);
    for (int district = 1; district <= DISTRICTS; district++) {
        READ(OLDEST, "ii", district, warehouse);
        int order = number(terminal, 0);
        if (order == 0) continue;
        STEP(DELETE_NEW_ORDER, "iii", order, district, warehouse);
        READ(ORDER_CUSTOMER, "iii", order, district, warehouse);
        int customer = number(terminal, 0);
        STEP(SET_CARRIER, "iiii", carrier, order, district, warehouse);
        STEP(SET_DELIVERED, "siii", now_text, order, district, warehouse);
        READ(AMOUNT, "iii", order, district, warehouse);
        STEP(DELIVER, "fiii", atof(terminal->columns[0]), customer, district, warehouse);
        if (mysql_commit(terminal->link)) return -1;
    }
    return 0;
}

static int stock_level(Terminal *terminal) {
    unsigned *seed = &terminal->seed;
    int warehouse = between(seed, 1, terminal->warehouses), district = between(seed, 1, DISTRICTS);
    int level = between(seed, 10, 20), items[400];
    READ(DISTRICT_NEXT, "ii", district, warehouse);
    int next = number(terminal, 0);
    int rows = ask(terminal, RECENT_ITEMS, "iiii", warehouse, district, next, next);
    if (rows < 0) return -1;
    if (rows > 400) rows = 400;
    for (int at = 0; at < rows; at++) {
        items[at] = number(terminal, 0);
        mysql_stmt_fetch(terminal->statements[RECENT_ITEMS]);
    }
    done_with(terminal, RECENT_ITEMS);
    for (int at = 0; at < rows; at++) READ(LOW_STOCK, "iii", warehouse, items[at], level);
    return mysql_commit(terminal->link) ? -1 : 0;
}

static pthread_mutex_t deck_lock = PTHREAD_MUTEX_INITIALIZER;

/* One deck of 10, 10, 1, 1 and 1 cards for all threads. */
static int card(unsigned *seed) {
    static int deck[23], left;
    pthread_mutex_lock(&deck_lock);
    if (left == 0)
        for (left = 0; left < 23; left++) deck[left] = left < 10 ? 0 : left < 20 ? 1 : left - 18;
    int at = between(seed, 0, left - 1), drawn = deck[at];
    deck[at] = deck[--left];
    pthread_mutex_unlock(&deck_lock);
    return drawn;
}

static void *run_terminal(void *argument) {
    static int (*const TRANSACTIONS[])(Terminal *) = {new_order, payment, order_status, deliver, stock_level};
    Terminal *terminal = argument;
    while (!stopping) {
        int which = card(&terminal->seed), attempt = 0;
        while (TRANSACTIONS[which](terminal) != 0 && !stopping && ++attempt < ATTEMPTS) {
            for (int at = 0; at < STATEMENTS; at++) mysql_stmt_free_result(terminal->statements[at]);
            mysql_rollback(terminal->link);
            terminal->failures++;
        }
        terminal->done++;
        terminal->new_orders += which == 0;
    }
    mysql_close(terminal->link);
    return NULL;
}

static int run(int port, const char *database, int warehouses, int connections, int seconds) {
    Terminal *terminals = calloc(connections, sizeof *terminals);
    pthread_t *threads = calloc(connections, sizeof *threads);
    long done = 0, new_orders = 0, failures = 0;
    for (int at = 0; at < connections; at++) {
        terminals[at].link = open_link(port, database);
        terminals[at].seed = 12345 + 7919 * at;
        terminals[at].warehouses = warehouses;
        for (int which = 0; which < STATEMENTS; which++)
            terminals[at].statements[which] = prepare(terminals[at].link, SQL[which]);
    }
    for (int at = 0; at < connections; at++) pthread_create(&threads[at], NULL, run_terminal, &terminals[at]);
    struct timespec pause = {seconds, 0};
    nanosleep(&pause, NULL);
    stopping = 1;
    for (int at = 0; at < connections; at++) {
        pthread_join(threads[at], NULL);
        done += terminals[at].done;
        new_orders += terminals[at].new_orders;
        failures += terminals[at].failures;
    }
    printf("%ld transactions, %ld New-Orders, %ld failures\n", done, new_orders, failures);
    return 0;
}

int main(int count, char **words) {
    time_t now = time(NULL);
    strftime(now_text, sizeof now_text, "%Y-%m-%d %H:%M:%S", localtime(&now));
    if (count == 5 && !strcmp(words[1], "load")) return load(atoi(words[2]), words[3], atoi(words[4]));
    if (count == 7 && !strcmp(words[1], "run"))
        return run(atoi(words[2]), words[3], atoi(words[4]), atoi(words[5]), atoi(words[6]));
    fprintf(stderr, "usage: tpcc_mysql load PORT DATABASE WAREHOUSES | run PORT DATABASE WAREHOUSES CONNECTIONS SECONDS\n");
    return 2;
}
