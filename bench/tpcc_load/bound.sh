#!/usr/bin/env bash
# Measures the upper bound of a load: rows from files, by LOAD DATA LOCAL over two connections, each with half of the
# warehouses; then the same indexes and foreign keys. `dump` makes the files from a loaded database.
#
# usage: bench/tpcc_load/bound.sh dump PORT DATABASE FILES WAREHOUSES
#        bench/tpcc_load/bound.sh load PORT DATABASE FILES WAREHOUSES
set -euo pipefail

command=$1 port=$2 database=$3 files=$4 warehouses=$5
# The largest first; each with the column that names its warehouse.
tables='stock:s_w_id order_line:ol_w_id customer:c_w_id history:h_c_w_id orders:o_w_id new_orders:no_w_id district:d_w_id warehouse:w_id'

client() {
    mariadb --no-defaults --host=127.0.0.1 --port="$port" --user=peer --local-infile=1 "$database" "$@"
}

dump() {
    local entry table column warehouse
    # Its rows contain letters and digits only; a NULL is the only value between two tabs.
    for entry in $tables; do
        table=${entry%:*} column=${entry#*:}
        for warehouse in $(seq "$warehouses"); do
            client --batch --raw --skip-column-names --quick \
                -e "select * from $table where $column = $warehouse" |
                sed 's/\tNULL\t/\t\\N\t/g' >"$files/$table-$warehouse"
        done
    done
    client --batch --raw --skip-column-names --quick -e 'select * from item' >"$files/item-1"
    for entry in $tables item:; do
        # Primary keys only; the other indexes are created after the rows.
        client --batch --raw --skip-column-names -e "show create table ${entry%:*}" | cut -f 2- |
            grep -v '^ *\(KEY\|CONSTRAINT\) ' | sed 's/^  PRIMARY KEY (\(.*\)),$/  PRIMARY KEY (\1)/; $s/$/;/' |
            awk '{ lines[NR] = $0 } END {
                for (at = 1; at <= NR; at++) {
                    if (lines[at + 1] ~ /^\)/) sub(/,$/, "", lines[at])
                    print lines[at]
                }
            }'
    done >"$files/tables.sql"
}

# The rows of the warehouses FIRST to LAST.
load_range() {
    local entry table warehouse
    {
        echo 'set unique_checks = 0; set foreign_key_checks = 0;'
        for entry in $tables; do
            table=${entry%:*}
            for warehouse in $(seq "$1" "$2"); do
                echo "load data local infile '$files/$table-$warehouse' into table $table character set binary;"
            done
        done
        if [ "$1" = 1 ]; then
            echo "load data local infile '$files/item-1' into table item character set binary;"
        fi
    } | client
}

add_keys() {
    echo "set foreign_key_checks = 0; $1" | client
}

load() {
    client <"$files/tables.sql"
    local half=$((warehouses / 2)) first second
    load_range 1 "$half" & first=$!
    load_range $((half + 1)) "$warehouses" & second=$!
    wait "$first" && wait "$second"
    add_keys 'alter table order_line add index fkey_order_line_2 (ol_supply_w_id, ol_i_id);' & first=$!
    add_keys 'alter table stock add index fkey_stock_2 (s_i_id);
        alter table customer add index idx_customer (c_w_id, c_d_id, c_last, c_first);
        alter table history add index fkey_history_1 (h_c_w_id, h_c_d_id, h_c_id), add index fkey_history_2 (h_w_id, h_d_id);
        alter table orders add index idx_orders (o_w_id, o_d_id, o_c_id, o_id);' & second=$!
    wait "$first" && wait "$second"
    add_keys 'alter table district add constraint fkey_district_1 foreign key (d_w_id) references warehouse (w_id);
        alter table customer add constraint fkey_customer_1 foreign key (c_w_id, c_d_id) references district (d_w_id, d_id);
        alter table history add constraint fkey_history_1 foreign key (h_c_w_id, h_c_d_id, h_c_id) references customer (c_w_id, c_d_id, c_id),
            add constraint fkey_history_2 foreign key (h_w_id, h_d_id) references district (d_w_id, d_id);
        alter table new_orders add constraint fkey_new_orders_1 foreign key (no_w_id, no_d_id, no_o_id) references orders (o_w_id, o_d_id, o_id);
        alter table orders add constraint fkey_orders_1 foreign key (o_w_id, o_d_id, o_c_id) references customer (c_w_id, c_d_id, c_id);
        alter table order_line add constraint fkey_order_line_1 foreign key (ol_w_id, ol_d_id, ol_o_id) references orders (o_w_id, o_d_id, o_id),
            add constraint fkey_order_line_2 foreign key (ol_supply_w_id, ol_i_id) references stock (s_w_id, s_i_id);
        alter table stock add constraint fkey_stock_1 foreign key (s_w_id) references warehouse (w_id),
            add constraint fkey_stock_2 foreign key (s_i_id) references item (i_id);'
}

"$command"
