// Command go_driver asks for random rows through Go's MySQL driver, one goroutine a connection: what a program
// written with it pays per query.
//
// usage: go_driver ENDPOINT CONNECTIONS QUERIES prepared|text ROWS
//
// ENDPOINT is the path of a unix socket, or a port of 127.0.0.1. Logs in as user peer without a password into
// database sb. Nothing is timed here: whoever started it does that.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"
)

const template = "SELECT c FROM sbtest1 WHERE id=?"

type question struct {
	pool     *sql.DB
	prepared bool
	rows     int
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "go_driver:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 5 {
		return fmt.Errorf("usage: go_driver ENDPOINT CONNECTIONS QUERIES prepared|text ROWS")
	}
	var numbers [3]int
	for i, argument := range []string{arguments[1], arguments[2], arguments[4]} {
		number, err := strconv.Atoi(argument)
		if err != nil || number < 1 {
			return fmt.Errorf("%q is not a count", argument)
		}
		numbers[i] = number
	}
	connections, queries, rows := numbers[0], numbers[1], numbers[2]
	config := mysql.NewConfig()
	config.User, config.DBName = "peer", "sb"
	config.Net, config.Addr = "tcp", "127.0.0.1:"+arguments[0]
	if strings.HasPrefix(arguments[0], "/") {
		config.Net, config.Addr = "unix", arguments[0]
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(connections)
	ask := question{pool: pool, prepared: arguments[3] == "prepared", rows: rows}

	var waiting sync.WaitGroup
	failures := make(chan error, connections)
	for i := range connections {
		share := queries / connections
		if i < queries%connections {
			share++
		}
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			failures <- ask.repeat(share)
		}()
	}
	waiting.Wait()
	close(failures)
	for failure := range failures {
		if failure != nil {
			return failure
		}
	}
	return nil
}

// repeat asks `times` questions over a connection of its own.
func (ask question) repeat(times int) error {
	ctx := context.Background()
	connection, err := ask.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	fetch := func(row int) *sql.Row {
		text := strings.Replace(template, "?", strconv.Itoa(row), 1)
		return connection.QueryRowContext(ctx, text)
	}
	if ask.prepared {
		statement, err := connection.PrepareContext(ctx, template)
		if err != nil {
			return err
		}
		defer statement.Close()
		fetch = func(row int) *sql.Row { return statement.QueryRowContext(ctx, row) }
	}
	var kept string
	for range times {
		if err := fetch(rand.IntN(ask.rows) + 1).Scan(&kept); err != nil {
			return err
		}
	}
	return nil
}
