// Go's driver through a proxy: text, prepared statements, a transaction, errors, several connections at a time.
package main

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	password, err := io.ReadAll(os.Stdin)
	must(err)
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", "127.0.0.1:"+os.Args[1]
	config.User, config.Passwd = os.Args[2], strings.TrimSpace(string(password))
	config.MultiStatements = true
	db, err := sql.Open("mysql", config.FormatDSN())
	must(err)
	defer db.Close()
	_, err = db.Exec("CREATE DATABASE IF NOT EXISTS godriver; DROP TABLE IF EXISTS godriver.t; CREATE TABLE godriver.t (a INT PRIMARY KEY, b INT)")
	must(err)
	var all sync.WaitGroup
	for at := 0; at < 8; at++ {
		all.Add(1)
		go func(at int) {
			defer all.Done()
			for n := 0; n < 20; n++ {
				_, err := db.Exec("INSERT INTO godriver.t VALUES (?, ?)", at*100+n, n)
				must(err)
			}
		}(at)
	}
	all.Wait()
	tx, err := db.Begin()
	must(err)
	_, err = tx.Exec("DELETE FROM godriver.t WHERE b < 10")
	must(err)
	must(tx.Rollback())
	var count, sum int
	must(db.QueryRow("SELECT COUNT(*), SUM(b) FROM godriver.t WHERE a >= ?", 0).Scan(&count, &sum))
	if count != 160 || sum != 8*190 {
		panic(fmt.Sprint(count, " ", sum))
	}
	rows, err := db.Query("SELECT 1; SELECT 'two'")
	must(err)
	sets := 1
	for rows.NextResultSet() {
		sets++
	}
	must(rows.Close())
	if sets != 2 {
		panic(sets)
	}
	if _, err = db.Query("SELECT nothing FROM godriver.t"); err == nil || err.(*mysql.MySQLError).Number != 1054 {
		panic(err)
	}
	_, err = db.Exec("DROP DATABASE godriver")
	must(err)
	fmt.Println("good")
}
