//! `inj` and `inj.resultset`.

use std::rc::Rc;

use proxy::{Decision, Level, QueryResult, Status};

use crate::scene::{Scene, done, rows};

/// Runs the body in `read_query_result`; an assertion that fails in it fails the test.
fn check(body: &str, result: QueryResult) {
    let mut scene = Scene::new(&format!("function read_query_result(inj)\n{body}\nend"));
    assert_eq!(scene.result(result), Decision::PassOn);
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn an_answer_without_rows() {
    check(
        r#"
        assert(inj.id == 7 and inj.type == 7 and inj.query == "\3update t")
        assert(inj.query_time == 120 and inj.response_time == 130)
        local r = inj.resultset
        assert(r.query_status == 0 and r.affected_rows == 3 and r.insert_id == 9)
        assert(r.warning_count == 2 and r.bytes == 11 and r.row_count == 0)
        assert(r.flags.auto_commit == true and r.flags.in_trans == false)
        assert(r.flags.no_index_used == false and r.flags.no_good_index_used == false)
        assert(r.fields == nil and r.rows == nil and r.nothing == nil)
        assert(r.raw:byte() == 0 and #r.raw == 7)
        "#,
        done(),
    );
}

#[test]
fn rows_in_both_forms_of_a_result() {
    for deprecate_eof in [false, true] {
        check(
            r#"
            local r = inj.resultset
            assert(r.query_status == 0 and r.affected_rows == nil and r.insert_id == nil and r.row_count == 2)
            assert(#r.fields == 2 and r.fields[0] == nil and r.fields[3] == nil and r.fields[0/0] == nil)
            local f = r.fields[2]
            assert(f.name == "b" and f.type == proxy.MYSQL_TYPE_VAR_STRING and f.table == "t" and f.nothing == nil)
            assert(f.org_table == "org_t" and f.org_name == "org_b")
            for round = 1, 2 do
                local seen = {}
                for row in r.rows do
                    seen[#seen + 1] = row[1] .. "," .. tostring(row[2])
                end
                assert(table.concat(seen, ";") == "1,one;2,nil")
            end
            assert(r.raw == "\2")
            "#,
            rows(deprecate_eof),
        );
    }
}

#[test]
fn an_error_and_an_error_among_the_rows() {
    let error = vec![0xff, 0x51, 0x04, b'#', b'4', b'2', b'0', b'0', b'0', b'x'];
    let result = QueryResult {
        status: Status::Err,
        packets: Some(Rc::new(vec![error.clone()])),
        ..done()
    };
    check(
        "assert(inj.resultset.query_status == 255 and inj.resultset.raw:byte() == 255)",
        result,
    );
    let mut kept = rows(false);
    let mut packets = kept.packets.as_deref().cloned().unwrap();
    packets.truncate(5);
    packets.push(error);
    kept.packets = Some(Rc::new(packets));
    kept.status = Status::Err;
    check(
        "local n = 0 for row in inj.resultset.rows do n = n + 1 end assert(n == 1 and inj.resultset.query_status == 255)",
        kept,
    );
}

#[test]
fn an_answer_of_another_kind_has_no_status() {
    let result = QueryResult {
        status: Status::Other,
        packets: Some(Rc::new(vec![b"Uptime: 1".to_vec()])),
        ..done()
    };
    check(
        "assert(inj.resultset.query_status == nil and inj.resultset.raw == 'Uptime: 1')",
        result,
    );
}

#[test]
fn what_was_not_kept_is_an_error_with_the_original_s_text() {
    for key in ["fields", "rows", "raw"] {
        let body = format!(
            "assert(inj.resultset.query_status == 0 and inj.resultset.affected_rows == 3)
             local ok, err = pcall(function() return inj.resultset.{key} end)
             assert(not ok and err:find(\".resultset.{key} isn't available if 'resultset_is_needed ~= true'\", 1, true), err)"
        );
        let result = QueryResult {
            packets: None,
            ..done()
        };
        check(&body, result);
    }
    let result = QueryResult {
        is_binary: true,
        ..rows(false)
    };
    check(
        "local ok, err = pcall(function() return inj.resultset.rows end)
         assert(not ok and err:find(\".resultset.rows isn't available for prepared statements\", 1, true), err)
         assert(inj.resultset.fields[1].name == 'a')",
        result,
    );
}

#[test]
fn an_unknown_key_is_logged() {
    let mut scene = Scene::new("function read_query_result(inj) assert(inj.nothing == nil) end");
    scene.result(done());
    assert_eq!(scene.logged(Level::Critical), ["inj.nothing is not known"]);
}

#[test]
fn objects_outlive_the_result_and_collections() {
    let mut scene = Scene::new(
        r#"
        function read_query_result(inj)
            local r = inj.resultset
            fields, rows, flags = r.fields, r.rows, r.flags
            inj, r = nil, nil
            collectgarbage() collectgarbage()
            assert(fields[1].name == "a" and rows()[2] == "one")
        end
        function read_query()
            collectgarbage() collectgarbage()
            assert(fields[2].name == "b" and rows()[1] == "2" and rows() == nil and flags.auto_commit)
        end
        "#,
    );
    scene.result(rows(false));
    scene.query("x");
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn broken_packets_of_a_server_are_errors_of_the_script() {
    let mut broken = rows(false);
    broken.packets = Some(Rc::new(vec![
        vec![2],
        vec![9, 9],
        vec![],
        vec![0xfe],
        vec![200, 1],
    ]));
    check(
        "assert(not pcall(function() return inj.resultset.fields end))
         local next_row = inj.resultset.rows
         assert(not pcall(next_row))",
        broken.clone(),
    );
    broken.packets = Some(Rc::new(vec![vec![2]]));
    check("for row in inj.resultset.rows do end", broken);
}
