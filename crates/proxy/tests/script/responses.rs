//! `proxy.response`, and the packets that become of it.

use proxy::{Decision, Level};

use crate::scene::Scene;

/// The packets of a response, and the first complaint about it.
fn packets(response: &str, client_deprecates_eof: bool) -> (Vec<Vec<u8>>, String) {
    let body = format!("proxy.response = {response} return proxy.PROXY_SEND_RESULT");
    let mut scene = Scene::in_query(&body);
    scene.session.borrow_mut().client_deprecates_eof = client_deprecates_eof;
    match scene.query("x") {
        Decision::Answer(packets) => (packets, scene.complaint()),
        other => panic!("{other:?} of {response}: {:?}", scene.logged(Level::Debug)),
    }
}

fn error(code: u16, state: &str, message: &str) -> Vec<u8> {
    let code = code.to_le_bytes();
    [
        b"\xff",
        &code[..],
        b"#",
        state.as_bytes(),
        message.as_bytes(),
    ]
    .concat()
}

#[test]
fn ok_has_counts() {
    let cases: [(&str, &[u8]); 3] = [
        ("{ type = proxy.MYSQLD_PACKET_OK }", &[0, 0, 0, 2, 0, 0, 0]),
        (
            "{ type = proxy.MYSQLD_PACKET_OK, affected_rows = 2, insert_id = 300 }",
            &[0, 2, 0xfc, 44, 1, 2, 0, 0, 0],
        ),
        (
            "{ type = '0', affected_rows = '2' }",
            &[0, 2, 0, 2, 0, 0, 0],
        ),
    ];
    for (response, expected) in cases {
        assert_eq!(packets(response, false).0, [expected], "{response}");
    }
}

#[test]
fn err_has_defaults() {
    let err = "type = proxy.MYSQLD_PACKET_ERR";
    let cases = [
        (
            format!("{{ {err}, errmsg = 'no' }}"),
            error(1105, "07000", "no"),
        ),
        (
            format!("{{ {err}, errmsg = 'no', errcode = 1045, sqlstate = '28000' }}"),
            error(1045, "28000", "no"),
        ),
        (
            format!("{{ {err}, errmsg = 'no', errcode = '99' }}"),
            error(99, "07000", "no"),
        ),
        (
            format!("{{ {err} }}"),
            error(1105, "07000", "(lua) proxy.response.errmsg is nil"),
        ),
        (
            format!("{{ {err}, errmsg = 'no', sqlstate = 'long one' }}"),
            error(1105, "07000", "no"),
        ),
    ];
    for (response, expected) in cases {
        assert_eq!(packets(&response, false).0, [expected], "{response}");
    }
}

#[test]
fn raw_packets_are_taken_as_they_are() {
    let response = r#"{ type = proxy.MYSQLD_PACKET_RAW, packets = { "\0\1", "", "x" } }"#;
    assert_eq!(packets(response, false).0, [&b"\0\x01"[..], b"", b"x"]);
}

#[test]
fn a_result_set_is_written_in_the_client_s_form() {
    let response = r#"{ type = proxy.MYSQLD_PACKET_OK, resultset = {
        fields = { { name = "a", type = proxy.MYSQL_TYPE_LONG }, { name = "b" } },
        rows = { { 1, "x" }, { 1.5, nil }, { true, "cut\0here" } } } }"#;
    let column = |name: u8, kind: u8| {
        let head = [
            3, b'd', b'e', b'f', 0, 0, 0, 1, name, 0, 0x0c, 8, 0, 32, 0, 0, 0, kind, 2, 0, 0, 0, 0,
        ];
        head.to_vec()
    };
    let eof = vec![0xfe, 0, 0, 2, 0];
    let rows = [&b"\x011\x01x"[..], b"\x031.5\xfb", b"\xfb\x03cut"];
    let mut expected = vec![vec![2], column(b'a', 3), column(b'b', 254), eof.clone()];
    expected.extend(rows.iter().map(|row| row.to_vec()));
    expected.push(eof);
    assert_eq!(packets(response, false).0, expected);

    expected.remove(3);
    expected.pop();
    expected.push(vec![0xfe, 0, 0, 2, 0, 0, 0]);
    assert_eq!(packets(response, true).0, expected);
}

#[test]
fn a_column_without_a_name_gets_one_with_a_warning() {
    let response = "{ type = proxy.MYSQLD_PACKET_OK, resultset = { fields = { {} }, rows = {} } }";
    let (packets, complaint) = packets(response, false);
    let text = String::from_utf8_lossy(&packets[1]).into_owned();
    assert!(text.contains("no-field-name"), "{text}");
    assert!(complaint.contains("a field without name"), "{complaint}");
}

#[test]
fn a_response_that_says_nothing_is_an_error_with_the_original_s_text() {
    let expected = error(
        1105,
        "07000",
        "(lua) handling proxy.response failed, check error-log",
    );
    for response in [
        "nil",
        "1",
        "{}",
        "{ type = 99 }",
        "{ type = {} }",
        "{ type = proxy.MYSQLD_PACKET_RAW }",
        "{ type = proxy.MYSQLD_PACKET_RAW, packets = { 1 } }",
        "{ type = proxy.MYSQLD_PACKET_RAW, packets = {} }",
        "{ type = proxy.MYSQLD_PACKET_OK, resultset = {} }",
        "{ type = proxy.MYSQLD_PACKET_OK, resultset = { fields = {} } }",
        "{ type = proxy.MYSQLD_PACKET_OK, resultset = { fields = { 1 } } }",
        "{ type = proxy.MYSQLD_PACKET_OK, resultset = { fields = { { name = 'a' } }, rows = { 1 } } }",
    ] {
        let (packets, complaint) = packets(response, false);
        assert_eq!(packets, std::slice::from_ref(&expected), "{response}");
        assert!(
            complaint.starts_with("(lua) proxy.response: "),
            "{response}: {complaint}"
        );
    }
}
