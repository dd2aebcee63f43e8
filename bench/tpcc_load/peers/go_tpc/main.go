// What go-tpc's `tpcc prepare` sends, from its documented pattern: INSERT texts of 1,024 rows over an autocommit pool,
// warehouses and then districts dealt round-robin to so many goroutines, ITEM by one, indexes before the rows and no
// foreign keys. Written anew for this benchmark.
//
// usage: go_tpc PORT DATABASE WAREHOUSES THREADS
package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"sync"

	_ "github.com/go-sql-driver/mysql"
)

const (
	rowsPerInsert = 1024
	items         = 100000
	customers     = 3000
	orders        = 3000
	districts     = 10
	now           = "2026-01-01 00:00:00"
	characters    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
)

var tables = []string{
	`create table warehouse (w_id int not null, w_name varchar(10), w_street_1 varchar(20), w_street_2 varchar(20),
	w_city varchar(20), w_state char(2), w_zip char(9), w_tax decimal(4,4), w_ytd decimal(12,2), primary key (w_id))`,
	`create table district (d_id int not null, d_w_id int not null, d_name varchar(10), d_street_1 varchar(20),
	d_street_2 varchar(20), d_city varchar(20), d_state char(2), d_zip char(9), d_tax decimal(4,4), d_ytd decimal(12,2),
	d_next_o_id int, primary key (d_w_id, d_id))`,
	`create table customer (c_id int not null, c_d_id int not null, c_w_id int not null, c_first varchar(16),
	c_middle char(2), c_last varchar(16), c_street_1 varchar(20), c_street_2 varchar(20), c_city varchar(20),
	c_state char(2), c_zip char(9), c_phone char(16), c_since datetime, c_credit char(2), c_credit_lim decimal(12,2),
	c_discount decimal(4,4), c_balance decimal(12,2), c_ytd_payment decimal(12,2), c_payment_cnt int,
	c_delivery_cnt int, c_data varchar(500), primary key (c_w_id, c_d_id, c_id),
	index idx_customer (c_w_id, c_d_id, c_last, c_first))`,
	`create table history (h_c_id int not null, h_c_d_id int not null, h_c_w_id int not null, h_d_id int not null,
	h_w_id int not null, h_date datetime, h_amount decimal(6,2), h_data varchar(24),
	index idx_h_w_id (h_w_id), index idx_h_c_w_id (h_c_w_id))`,
	`create table new_order (no_o_id int not null, no_d_id int not null, no_w_id int not null,
	primary key (no_w_id, no_d_id, no_o_id))`,
	`create table orders (o_id int not null, o_d_id int not null, o_w_id int not null, o_c_id int, o_entry_d datetime,
	o_carrier_id int, o_ol_cnt int, o_all_local int, primary key (o_w_id, o_d_id, o_id),
	index idx_order (o_w_id, o_d_id, o_c_id, o_id))`,
	`create table order_line (ol_o_id int not null, ol_d_id int not null, ol_w_id int not null, ol_number int not null,
	ol_i_id int not null, ol_supply_w_id int, ol_delivery_d datetime, ol_quantity int, ol_amount decimal(6,2),
	ol_dist_info char(24), primary key (ol_w_id, ol_d_id, ol_o_id, ol_number))`,
	`create table stock (s_i_id int not null, s_w_id int not null, s_quantity int, s_dist_01 char(24),
	s_dist_02 char(24), s_dist_03 char(24), s_dist_04 char(24), s_dist_05 char(24), s_dist_06 char(24),
	s_dist_07 char(24), s_dist_08 char(24), s_dist_09 char(24), s_dist_10 char(24), s_ytd int, s_order_cnt int,
	s_remote_cnt int, s_data varchar(50), primary key (s_w_id, s_i_id))`,
	`create table item (i_id int not null, i_im_id int, i_name varchar(24), i_price decimal(5,2), i_data varchar(50),
	primary key (i_id))`,
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// batch collects rows and sends them by 1,024.
type batch struct {
	db     *sql.DB
	head   string
	text   bytes.Buffer
	rows   int
	random *rand.Rand
}

func newBatch(db *sql.DB, head string, seed int64) *batch {
	return &batch{db: db, head: "INSERT INTO " + head + " VALUES ", random: rand.New(rand.NewSource(seed))}
}

func (b *batch) add(row string) {
	if b.rows == 0 {
		b.text.WriteString(b.head)
	} else {
		b.text.WriteString(",")
	}
	b.text.WriteString(row)
	if b.rows++; b.rows == rowsPerInsert {
		b.flush()
	}
}

func (b *batch) flush() {
	if b.rows == 0 {
		return
	}
	_, err := b.db.Exec(b.text.String())
	check(err)
	b.text.Reset()
	b.rows = 0
}

func (b *batch) number(low, high int) int { return low + b.random.Intn(high-low+1) }

func (b *batch) letters(low, high int) string {
	out := make([]byte, b.number(low, high))
	for at := range out {
		out[at] = characters[b.random.Intn(len(characters))]
	}
	return string(out)
}

func lastName(number int) string {
	syllables := []string{"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}
	return syllables[number/100] + syllables[number/10%10] + syllables[number%10]
}

func loadItems(db *sql.DB) {
	b := newBatch(db, "item (i_id, i_im_id, i_name, i_price, i_data)", 1)
	for id := 1; id <= items; id++ {
		b.add(fmt.Sprintf("(%d, %d, '%s', %f, '%s')", id, b.number(1, 10000), b.letters(14, 24),
			float64(b.number(100, 10000))/100, b.letters(26, 50)))
	}
	b.flush()
}

func loadWarehouse(db *sql.DB, warehouse int) {
	b := newBatch(db, "warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd)", int64(warehouse))
	b.add(fmt.Sprintf("(%d, '%s', '%s', '%s', '%s', '%s', '123411111', %f, 300000.0)", warehouse, b.letters(6, 10),
		b.letters(10, 20), b.letters(10, 20), b.letters(10, 20), b.letters(2, 2), float64(b.number(0, 2000))/10000))
	b.flush()
	b = newBatch(db, "stock", int64(warehouse))
	for id := 1; id <= items; id++ {
		b.add(fmt.Sprintf("(%d, %d, %d, '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', 0, 0, 0, '%s')", id,
			warehouse, b.number(10, 100), b.letters(24, 24), b.letters(24, 24), b.letters(24, 24), b.letters(24, 24),
			b.letters(24, 24), b.letters(24, 24), b.letters(24, 24), b.letters(24, 24), b.letters(24, 24),
			b.letters(24, 24), b.letters(26, 50)))
	}
	b.flush()
	b = newBatch(db, "district", int64(warehouse))
	for id := 1; id <= districts; id++ {
		b.add(fmt.Sprintf("(%d, %d, '%s', '%s', '%s', '%s', '%s', '123411111', %f, 30000.0, 3001)", id, warehouse,
			b.letters(6, 10), b.letters(10, 20), b.letters(10, 20), b.letters(10, 20), b.letters(2, 2),
			float64(b.number(0, 2000))/10000))
	}
	b.flush()
}

func loadDistrict(db *sql.DB, warehouse, district int) {
	seed := int64(warehouse*100 + district)
	customer, history := newBatch(db, "customer", seed), newBatch(db, "history", seed)
	for id := 1; id <= customers; id++ {
		name := id - 1
		if id > 1000 {
			name = customer.number(0, 999)
		}
		credit := "GC"
		if customer.number(1, 10) == 1 {
			credit = "BC"
		}
		customer.add(fmt.Sprintf("(%d, %d, %d, '%s', 'OE', '%s', '%s', '%s', '%s', '%s', '123411111', '%s', '%s', '%s', 50000.0, %f, -10.0, 10.0, 1, 0, '%s')",
			id, district, warehouse, customer.letters(8, 16), lastName(name), customer.letters(10, 20),
			customer.letters(10, 20), customer.letters(10, 20), customer.letters(2, 2), customer.letters(16, 16), now,
			credit, float64(customer.number(0, 5000))/10000, customer.letters(300, 500)))
	}
	customer.flush()
	for id := 1; id <= customers; id++ {
		history.add(fmt.Sprintf("(%d, %d, %d, %d, %d, '%s', 10.0, '%s')", id, district, warehouse, district, warehouse, now,
			history.letters(12, 24)))
	}
	history.flush()
	order, newOrder, line := newBatch(db, "orders", seed), newBatch(db, "new_order", seed), newBatch(db, "order_line", seed)
	permuted := order.random.Perm(customers)
	counts := make([]int, orders)
	for id := 1; id <= orders; id++ {
		counts[id-1] = order.number(5, 15)
		carrier := "NULL"
		if id <= 2100 {
			carrier = strconv.Itoa(order.number(1, 10))
		}
		order.add(fmt.Sprintf("(%d, %d, %d, %d, '%s', %s, %d, 1)", id, district, warehouse, permuted[id-1]+1, now, carrier,
			counts[id-1]))
	}
	order.flush()
	for id := 2101; id <= orders; id++ {
		newOrder.add(fmt.Sprintf("(%d, %d, %d)", id, district, warehouse))
	}
	newOrder.flush()
	for id := 1; id <= orders; id++ {
		for number := 1; number <= counts[id-1]; number++ {
			delivered, amount := "'"+now+"'", 0.0
			if id > 2100 {
				delivered, amount = "NULL", float64(line.number(1, 999999))/100
			}
			line.add(fmt.Sprintf("(%d, %d, %d, %d, %d, %d, %s, 5, %f, '%s')", id, district, warehouse, number,
				line.number(1, items), warehouse, delivered, amount, line.letters(24, 24)))
		}
	}
	line.flush()
}

// deal gives every threads-th piece of work to one goroutine.
func deal(threads, pieces int, work func(piece int)) {
	var all sync.WaitGroup
	for thread := 0; thread < threads; thread++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for piece := thread; piece < pieces; piece += threads {
				work(piece)
			}
		}()
	}
	all.Wait()
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: go_tpc PORT DATABASE WAREHOUSES THREADS")
		os.Exit(2)
	}
	warehouses, err := strconv.Atoi(os.Args[3])
	check(err)
	threads, err := strconv.Atoi(os.Args[4])
	check(err)
	db, err := sql.Open("mysql", "peer@tcp(127.0.0.1:"+os.Args[1]+")/"+os.Args[2])
	check(err)
	db.SetMaxIdleConns(threads)
	for _, table := range tables {
		_, err := db.Exec(table)
		check(err)
	}
	loadItems(db)
	deal(threads, warehouses, func(piece int) { loadWarehouse(db, piece+1) })
	deal(threads, warehouses*districts, func(piece int) { loadDistrict(db, piece/districts+1, piece%districts+1) })
}
