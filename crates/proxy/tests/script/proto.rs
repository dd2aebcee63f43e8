//! `mysql.proto`: packets to tables and back.

use proptest::prelude::*;
use proxy::{Decision, Level};

use crate::scene::{Scene, check, error_of};

#[test]
fn small_packets_come_back() {
    check(
        r##"
        local p = require("mysql.proto")
        local err = p.from_err_packet("\255\81\4#28000no")
        assert(err.errcode == 1105 and err.sqlstate == "28000" and err.errmsg == "no")
        assert(p.to_err_packet(err) == "\255\81\4#28000no")
        assert(p.from_err_packet("\255\81\4old").sqlstate == "07000")
        local ok = { server_status = 2, insert_id = 300, warnings = 1, affected_rows = 5 }
        local packet = p.to_ok_packet(ok)
        assert(packet == "\0\5\252\44\1\2\0\1\0")
        local back = p.from_ok_packet(packet)
        for key, value in pairs(ok) do assert(back[key] == value, key) end
        assert(p.to_eof_packet{ server_status = 2, warnings = 1 } == "\254\1\0\2\0")
        local eof = p.from_eof_packet("\254\1\0\2\0")
        assert(eof.server_status == 2 and eof.warnings == 1)
        local old = p.from_eof_packet("\254")
        assert(old.server_status == 0 and old.warnings == 0)
        "##,
    );
}

#[test]
fn challenges_and_responses_come_back() {
    check(
        r#"
        local p = require("mysql.proto")
        local c = p.from_challenge_packet(p.to_challenge_packet {
            server_version = 50506, thread_id = 17, charset = 8, server_status = 2, capabilities = 0x0008a200,
            challenge = "01234567890123456789",
        })
        assert(c.protocol_version == 10 and c.server_version == 50506 and c.thread_id == 17 and c.charset == 8)
        assert(c.server_status == 2 and c.capabilities == 0x0008a200 and c.challenge == "01234567890123456789\0")
        assert(c.auth_plugin_name == "mysql_native_password")
        local long = ("c"):rep(40) .. "\0"
        local c = p.from_challenge_packet(p.to_challenge_packet { capabilities = 0x0008a200, challenge = long })
        assert(c.challenge == long and c.auth_plugin_name == "mysql_native_password")
        local plain = p.from_challenge_packet(p.to_challenge_packet { capabilities = 0x8200, challenge = ("c"):rep(20) })
        assert(plain.challenge == ("c"):rep(20))
        local old = p.from_challenge_packet(p.to_challenge_packet { capabilities = 0x0200 })
        assert(old.challenge == "01234567")
        local made = p.to_challenge_packet { server_status = 2, server_version = 50034 }
        assert(#made == 53)
        local r = p.from_response_packet(p.to_response_packet {
            server_capabilities = 0xffffffff, username = "me", response = "r", database = "db",
            auth_plugin_name = "x", max_packet_size = 1000, charset = 33,
        })
        assert(r.username == "me" and r.response == "r" and r.database == "db" and r.auth_plugin_name == "x")
        assert(r.max_packet_size == 1000 and r.charset == 33 and r.capabilities == 0x00088208)
        local old = p.from_response_packet(p.to_response_packet {
            server_capabilities = 0, capabilities = 8, username = "me", response = "r", database = "db",
        })
        local mariadb = p.from_response_packet(p.to_response_packet {
            server_capabilities = 0, capabilities = 2 ^ 9 + 2 ^ 36, username = "me",
        })
        assert(mariadb.capabilities == 2 ^ 9 + 2 ^ 36)
        assert(old.username == "me" and old.response == "r" and old.database == "db" and old.capabilities == 8)
        "#,
    );
    let of = |table: &str| {
        error_of(&format!(
            "require('mysql.proto').to_response_packet({table})"
        ))
    };
    assert_eq!(of("{}"), ".server_capabilities has to be set");
    assert_eq!(
        of("{ server_capabilities = 'x' }"),
        ".server_capabilities has to be a number"
    );
    assert_eq!(
        of("{ server_capabilities = true }"),
        ".server_capabilities has to be a number"
    );
}

#[test]
fn master_info_comes_back() {
    check(
        r#"
        local p = require("mysql.proto")
        local text = "15\nlog.000005\n123\nhost\nuser\npw\n3306\n60\n1\nca\ncapath\ncert\ncipher\nkey\n1\n"
        local m = p.from_masterinfo_string(text)
        assert(m.master_lines == 15 and m.master_log_file == "log.000005" and m.master_log_pos == 123)
        assert(m.master_host == "host" and m.master_user == "user" and m.master_password == "pw")
        assert(m.master_port == 3306 and m.master_connect_retry == 60 and m.master_ssl == 1)
        assert(m.master_ssl_ca == "ca" and m.master_ssl_capath == "capath" and m.master_ssl_cert == "cert")
        assert(m.master_ssl_cipher == "cipher" and m.master_ssl_key == "key" and m.master_ssl_verify_server_cert == 1)
        assert(p.to_masterinfo_string(m) == text)
        "#,
    );
}

#[test]
fn prepared_statements_are_read() {
    check(
        r#"
        local p = require("mysql.proto")
        assert(p.from_stmt_prepare_packet("\22select ?").stmt_text == "select ?")
        local ok = p.from_stmt_prepare_ok_packet("\0\1\0\0\0\2\0\3\0\0\4\0")
        assert(ok.stmt_id == 1 and ok.num_columns == 2 and ok.num_params == 3 and ok.warnings == 4)
        assert(p.from_stmt_close_packet("\25\5\0\0\0").stmt_id == 5)
        local head = "\23\7\0\0\0\1\1\0\0\0"
        assert(p.stmt_id_from_stmt_execute_packet(head) == 7)
        local bare = p.from_stmt_execute_packet(head, 0)
        assert(bare.stmt_id == 7 and bare.flags == 1 and bare.iteration_count == 1)
        assert(bare.new_params_bound == false and bare.params == nil)
        assert(p.from_stmt_execute_packet(head .. "\0\0", 1).new_params_bound == false)
        local full = head .. "\4\1" .. "\3\0\254\0\6\0\8\128\5\0\12\0\11\0" ..
            "\255\255\255\255" .. "\2ab" .. ("\255"):rep(8) .. "\0\0\0\0\0\0\248\63" ..
            "\7\218\7\10\26\1\2\3" .. "\8\1\1\0\0\0\2\3\4"
        local e = p.from_stmt_execute_packet(full, 7)
        assert(e.new_params_bound == true and #e.params == 7)
        assert(e.params[1].type == 3 and e.params[1].value == -1)
        assert(e.params[2].type == 254 and e.params[2].value == "ab")
        assert(e.params[3].value == nil and e.params[4].value == 2^64)
        assert(e.params[5].value == 1.5 and e.params[6].value == "2010-10-26 01:02:03")
        assert(e.params[7].value == "-26:03:04")
        "#,
    );
}

/// A script that gives each packet to all decoders, and to all that reads SQL.
const DECODE_ALL: &str = r#"
    local p, t = require("mysql.proto"), require("proxy.tokenizer")
    local parser, commands = require("proxy.parser"), require("proxy.commands")
    local tokens = t.tokenize(packet)
    t.normalize(tokens)
    t.tokens_to_query(tokens)
    parser.get_tables(tokens)
    commands.pretty_print(commands.parse(packet))
    for name, f in pairs(p) do
        if name:find("^from_") or name:find("^stmt_id_") then
            for _, text in ipairs{ packet:sub(2), packet:sub(3) } do
                local ok, err = pcall(f, text, #packet % 9)
                assert(ok or err:find(": not a complete ", 1, true), err)
            end
        end
    end
"#;

#[test]
fn a_malformed_packet_is_an_error() {
    for name in [
        "from_err_packet",
        "from_ok_packet",
        "from_eof_packet",
        "from_challenge_packet",
        "from_response_packet",
        "from_stmt_prepare_packet",
        "from_stmt_prepare_ok_packet",
        "from_stmt_close_packet",
        "from_masterinfo_string",
        "stmt_id_from_stmt_execute_packet",
    ] {
        let error = error_of(&format!("require('mysql.proto').{name}('')"));
        assert!(
            error.starts_with(&format!("{name}: not a complete ")),
            "{error}"
        );
    }
    let error = error_of("require('mysql.proto').from_stmt_execute_packet('\\23', 1)");
    assert!(
        error.contains("not a complete stmt execute packet"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_decoded_or_refused(packets: Vec<Vec<u8>>) {
        let mut scene = Scene::in_query(DECODE_ALL);
        let session = scene.session.clone();
        for packet in packets.iter().take(6) {
            for first in [0, 22, 23, 25, 254, 255] {
                let packet = [&[3, first][..], packet].concat();
                prop_assert_eq!(scene.hooks.read_query(&session, &packet), Decision::PassOn);
            }
        }
        prop_assert_eq!(scene.logged(Level::Warning), [""; 0]);
    }
}
