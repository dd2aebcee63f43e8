//! `[data] dump`: what mysqldump, mysqlpump and mydumper write beside rows: names with the database, its character set, a
//! last line, and files of one directory.

use std::fs;

use crate::{
    own_experiment::experiment,
    results::Results,
    scene::Scene,
    servers::own_dump::{ask, start_kept},
};

/// As mariadb-dump writes a database without `--databases`: only a comment names it. It is cut off, and a table has the
/// database's name.
const OF_ONE_DATABASE: &str = r"/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: localhost    Database: shop
/*!40101 SET NAMES utf8mb4 */;
CREATE SEQUENCE `s` start with 100;
CREATE TABLE `shop` (
  `id` int NOT NULL DEFAULT nextval(`shop`.`s`),
  `name` varchar(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1 COLLATE=latin1_german1_ci;
INSERT INTO `shop` VALUES
(1,'a'),
(2,'b');
CREATE TABLE `log` (`id` int, `name` varchar(20)) DEFAULT CHARSET=latin1 COLLATE=latin1_german1_ci;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`shop`@`%`*/ /*!50003 TRIGGER shop.tr AFTER INSERT ON shop.shop FOR EACH ROW
  INSERT INTO shop.log VALUES (NEW.id, NEW.name) */;;
CREATE DEFINER=`shop`@`%` FUNCTION `found`(n varchar(20)) RETURNS int READS SQL DATA
RETURN (SELECT id FROM shop.shop WHERE shop.name = n) ;;
DELIMITER ;
/*!50001 CREATE VIEW `v` AS select `shop`.`shop`.`id` AS `id` from `shop`.`shop` */;
";

/// As mysqlpump writes it: every name has the database.
const OF_MYSQLPUMP: &str = r#"-- Dump created by MySQL pump utility, version: 8.0.33, Linux (x86_64)
SET NAMES utf8mb4;
CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop-1.0` /*!40100 DEFAULT CHARACTER SET latin1 COLLATE latin1_german1_ci */;
CREATE SEQUENCE `shop-1.0`.`s` start with 100;
CREATE TABLE `shop-1.0`.`shop` (
`id` int NOT NULL DEFAULT (next value for `shop-1.0`.`s`),
`name` varchar(20) DEFAULT NULL,
PRIMARY KEY (`id`)
) ENGINE=InnoDB
;
INSERT INTO `shop-1.0`.`shop` VALUES (1,"a"),(2,"b");
CREATE TABLE `shop-1.0`.`log` (`id` int, `name` varchar(20));
USE `shop-1.0`;
ALTER TABLE `shop-1.0`.`shop` ADD KEY `name` (`name`);
DELIMITER //
CREATE DEFINER=`shop`@`%` TRIGGER `shop-1.0`.`tr` AFTER INSERT ON `shop-1.0`.`shop` FOR EACH ROW
  INSERT INTO `shop-1.0`.`log` VALUES (NEW.id, NEW.name)//
CREATE DEFINER=`shop`@`%` FUNCTION `shop-1.0`.`found`(n varchar(20)) RETURNS int READS SQL DATA
RETURN (SELECT id FROM `shop-1.0`.`shop` WHERE name = n)//
DELIMITER ;
CREATE VIEW `shop-1.0`.`v` AS select `shop-1.0`.`shop`.`id` AS `id` from `shop-1.0`.`shop`;
-- Dump end time: Thu Nov 26 13:03:01 2026
"#;

#[test]
fn names_with_the_dumps_database_and_its_character_set_hold_in_another_one() {
    let scene = Scene::for_servers();
    scene.file("load.sql", "SELECT found('b'), id FROM v;\n");
    let german =
        "set = { character_set_server = \"latin1\", collation_server = \"latin1_german1_ci\" }";
    let no_charset = "note: no statement gives the character set of the database; the character set of most \
                      tables is used (CHARACTER SET latin1 COLLATE latin1_german1_ci)";
    let cut_off = "prod.sql does not end with \"-- Dump completed\": it may have been cut off";
    for (number, (server, dump, notes)) in [
        ("", OF_ONE_DATABASE, &[no_charset, cut_off][..]),
        (german, OF_ONE_DATABASE, &[cut_off]),
        ("", OF_MYSQLPUMP, &[]),
    ]
    .into_iter()
    .enumerate()
    {
        scene.file("prod.sql", dump);
        scene.file("own.toml", &experiment(server, "dump = \"prod.sql\""));
        let results = format!("out-{number}");
        let run = scene
            .dbdyno(["run", "own.toml", "--keep", "--results", &results])
            .exits(0);
        for note in [no_charset, cut_off] {
            let is_told = run.stderr.contains(note);
            assert_eq!(is_told, notes.contains(&note), "{note}: {}", run.stderr);
        }
        let server = start_kept(&scene);
        let sql = "insert into shop (name) values ('c'); select * from log; select found('b'), count(*) from v; \
                   select @@collation_database; \
                   select database_collation from information_schema.routines where routine_schema = database(); \
                   select database_collation from information_schema.triggers where trigger_schema = database()";
        let german = "latin1_german1_ci\n".repeat(3);
        assert_eq!(
            ask(&scene, &server, "test", sql),
            format!("100\tc\n2\t3\n{german}")
        );
        scene.dbdyno(["server", "destroy", &server]).exits(0);
    }
    scene.nothing_is_left();
}

/// A directory as mydumper writes it, whose files leave the session to myloader: nothing sets modes or foreign keys, and a
/// table comes before the one that it refers to.
const DIRECTORY: [(&str, &str); 10] = [
    ("metadata", "Started dump at: 2024-01-01 00:00:00\n"),
    (
        "shop-schema-create.sql",
        "CREATE DATABASE `shop` /*!40100 DEFAULT CHARACTER SET latin1 */;\n",
    ),
    (
        "shop.a_view-schema-view.sql",
        "CREATE VIEW `a_view` AS SELECT `id` FROM `t`;\n",
    ),
    (
        "shop.child-schema.sql",
        "CREATE TABLE `child` (`id` int PRIMARY KEY, `t` int, FOREIGN KEY (`t`) REFERENCES `t` (`id`));\n",
    ),
    ("shop.child.00000.sql", "INSERT INTO `child` VALUES(1,3);\n"),
    (
        "shop.t-schema.sql",
        "/*!40101 SET NAMES utf8mb4*/;\nCREATE TABLE `t` (`id` int PRIMARY KEY AUTO_INCREMENT, `a` varchar(9), `d` date) CHARSET=utf8mb4;\n",
    ),
    (
        "shop.t.00000.sql",
        "/*!40101 SET NAMES utf8mb4*/;\nINSERT INTO `t` VALUES\n(0,\"it's\",\"2020-00-15\")\n,(2,NULL,\"0000-00-00\");\n",
    ),
    (
        "shop.t.00001.sql",
        "INSERT INTO `t` VALUES (3,'\u{e9}',NULL);\n",
    ),
    // Within a body mydumper writes a blank behind a semicolon that ends a line.
    (
        "shop.t-schema-triggers.sql",
        "/*!40101 SET NAMES binary*/;\nCREATE DEFINER=`app`@`%` TRIGGER `shop`.`tr` BEFORE INSERT ON `shop`.`t` FOR EACH ROW BEGIN \n \
         IF NEW.a IS NULL THEN \n  SET NEW.a = 'x'; \n END IF; \nEND;\n",
    ),
    (
        "shop-schema-post.sql",
        "/*!40101 SET NAMES binary*/;\nDROP FUNCTION IF EXISTS `two`;\nCREATE DEFINER=`app`@`%` FUNCTION `two`() RETURNS int \
         DETERMINISTIC\nBEGIN \n DECLARE a int; \n SET a = 2; \n RETURN a; \nEND;\n",
    ),
];

#[test]
fn a_directory_of_mydumper_is_loaded_in_its_order_as_by_myloader() {
    let scene = Scene::for_servers();
    fs::create_dir(scene.path().join("dumped")).unwrap();
    for (name, text) in DIRECTORY {
        scene.file(&format!("dumped/{name}"), text);
    }
    scene.file(
        "load.sql",
        "\\set id random(2, 3)\nSELECT id FROM a_view WHERE id = :id AND two() = 2 \\gset\n",
    );
    let server = "set = { sql_mode = \"TRADITIONAL\" }";
    scene.file("own.toml", &experiment(server, "dump = \"dumped\""));
    scene
        .dbdyno(["run", "own.toml", "--keep", "--results", "out"])
        .exits(0);
    let record = Results::at(scene.path().join("out")).record(1);
    assert_eq!(record.one("dataset")["rows"], 4);
    assert_eq!(record.one("dataset")["source"], "the dump dumped");
    let server = start_kept(&scene);
    let sql = "select id, hex(a), d from t; select * from child; select @@character_set_database";
    assert_eq!(
        ask(&scene, &server, "test", sql),
        "0\t69742773\t2020-00-15\n2\tNULL\t0000-00-00\n3\tC3A9\tNULL\n1\t3\nlatin1\n"
    );
    scene.dbdyno(["server", "destroy", &server]).exits(0);
    scene.nothing_is_left();
}
