//! End-to-end tests of dbdyno: the real program, real servers, exit codes and output.
//!
//! A test opens a [`scene::Scene`], runs commands in it and checks their results. The tests are in one file per
//! command; their common vocabulary is in `scene.rs`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test may end in a panic, and says why it is skipped"
)]

mod ab;
mod audit;
mod audited;
mod calibrate;
mod ci;
mod compare;
mod completions;
mod config;
mod config_running;
mod datadir;
mod door_records;
mod events;
mod evidence;
mod experiment;
mod extremes;
mod faults;
mod files;
mod gen_data;
mod history;
mod how_to;
mod installs;
mod load_stages;
mod mariadb;
mod mysqlslap;
mod namespace;
mod notices;
mod null_server;
mod observe;
mod oltp;
mod oltp_ends;
mod oltp_experiment;
mod open_files;
mod open_loop;
mod other_host;
mod own_data;
mod own_dump;
mod own_files;
mod page;
mod plan_fixtures;
mod prove;
mod proxy;
mod published;
mod quick;
mod refusals;
mod remote;
mod report;
mod results;
mod run;
mod scene;
mod script;
mod secrets;
mod serve;
mod server_activity;
mod server_check;
mod server_life_cycle;
mod server_limit;
mod server_waits;
mod shipped;
mod slap_experiment;
mod snapshots;
mod sql;
mod sql_compare;
mod sql_servers;
mod storage;
mod storage_experiment;
mod super_smack;
mod terminal;
mod top;
mod tpcc;
mod tpcc_faults;
mod tpcc_mysql;
mod tpch;
mod truth;
mod two_loads;
mod until_decided;
mod waits;
mod warm_up;
mod wiki;
