"""MySQL Connector/Python through a proxy: text, prepared statements, several results, errors, a reset, a long value."""

import sys

import mysql.connector

port, user, password = int(sys.argv[1]), sys.argv[2], sys.stdin.read().strip()
connection = mysql.connector.connect(
    host="127.0.0.1", port=port, user=user, password=password, use_pure=True, ssl_disabled=True, autocommit=False
)
cursor = connection.cursor()
cursor.execute("SELECT 1 UNION SELECT 2")
assert cursor.fetchall() == [(1,), (2,)]
cursor.execute("CREATE DATABASE IF NOT EXISTS driver")
connection.database = "driver"
cursor.execute("DROP TABLE IF EXISTS t")
cursor.execute("CREATE TABLE t (a INT PRIMARY KEY, b LONGTEXT) ENGINE = InnoDB")
cursor.executemany("INSERT INTO t VALUES (%s, %s)", [(n, "x" * n) for n in range(100)])
connection.commit()
prepared = connection.cursor(prepared=True)
prepared.execute("SELECT b FROM t WHERE a > %s ORDER BY a", (97,))
assert [len(row[0]) for row in prepared.fetchall()] == [98, 99]
prepared.close()
try:
    cursor.execute("SELECT nothing FROM t")
    raise AssertionError("no error")
except mysql.connector.Error as error:
    assert error.errno == 1054, error
cursor.execute("DELETE FROM t WHERE a = 0")
connection.rollback()
cursor.execute("SELECT COUNT(*), MAX(LENGTH(b)) FROM t")
assert cursor.fetchall() == [(100, 99)]
cursor.execute("SELECT REPEAT('y', 300000)")
assert len(cursor.fetchone()[0]) == 300000
connection.ping()
cursor.execute("DROP DATABASE driver")
connection.close()
print("good")
