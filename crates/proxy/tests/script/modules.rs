//! The modules that scripts require.

use proxy::{Decision, Level};

use crate::scene::{Scene, check, error_of};

#[test]
fn every_module_is_built_in_and_old_ones_set_a_global() {
    check(
        r#"
        for _, name in ipairs{ "mysql.proto", "mysql.password", "mysql.tokenizer", "lfs", "glib2", "posix" } do
            local m = require(name)
            assert(type(m) == "table" and rawget(_G, name:match("[^.]+$")) == m, name)
        end
        for _, name in ipairs{ "tokenizer", "parser", "commands", "balance", "auto-config", "test" } do
            local m = require("proxy." .. name)
            assert(type(m) == "table" and proxy[name] == m, name)
        end
        "#,
    );
    assert!(error_of("require('lpeg')").contains("lpeg is not built in"));
}

#[test]
fn included_scripts_are_found_without_a_path_and_hide_no_file() {
    let mut scene = Scene::new(
        "require('xtab')
         require('load-multi')
         function disconnect_client() print(require('proxy.test').mine, require('ro-pooling')) end",
    );
    let place = scene.directory.path().to_owned();
    assert!(scene.hooks.reads_queries(), "{}", scene.complaint());
    std::fs::create_dir(place.join("proxy")).expect("a directory");
    std::fs::write(place.join("proxy/test.lua"), "return { mine = 'mine' }").expect("a module");
    std::fs::write(place.join("ro-pooling.lua"), "return 'mine, too'").expect("a module");
    scene.hooks.disconnect_client(&scene.session);
    assert_eq!(
        scene.printed(),
        ["mine\tmine, too"],
        "{}",
        scene.complaint()
    );
}

#[test]
fn each_included_script_is_built_in() {
    let place = format!("{}/scripts", env!("CARGO_MANIFEST_DIR"));
    for file in std::fs::read_dir(place).expect("scripts") {
        let name = file
            .expect("a file")
            .file_name()
            .into_string()
            .expect("a name");
        let name = name.strip_suffix(".lua").expect("a script").to_owned();
        check(&format!(
            "local loader = package.loaders[#package.loaders]('{name}') assert(type(loader) == 'function', loader)"
        ));
    }
}

#[test]
fn password_has_the_arithmetic_of_native_passwords() {
    check(
        r#"
        local p = require("mysql.password")
        local challenge = "01234567890123456789"
        local hashed = p.hash("secret")
        local double = p.hash(hashed)
        local hex = double:gsub(".", function(c) return ("%02X"):format(c:byte()) end)
        assert(hex == "14E65567ABDB5135D0CFD9A70B3032C179A49EE7", hex)
        local response = p.scramble(challenge, hashed)
        assert(#response == 20 and p.unscramble(challenge, response, double) == hashed)
        assert(p.check(challenge, response, double) == true)
        assert(p.scramble(challenge .. "\0", hashed) == response)
        assert(p.check(challenge, p.scramble(challenge, p.hash("wrong")), double) == false)
        "#,
    );
    assert!(
        error_of("require('mysql.password').scramble('x', 'short')").contains("20 bytes expected")
    );
}

#[test]
fn tokens_are_an_array_whose_members_can_be_freed() {
    check(
        r#"
        local t = require("mysql.tokenizer").tokenize("select a.b from `t`")
        assert(#t == 6 and t[0] == nil and t[7] == nil)
        assert(t[1].token_id == 204 and t[1].token_name == "TK_SQL_SELECT" and t[1].text == "select")
        assert(t[3].token_name == "TK_DOT" and t[6].token_id == 9 and t[6].text == "t")
        t[6] = nil
        assert(t[6] == nil and #t == 6)
        "#,
    );
    let of = |rest: &str| {
        error_of(&format!(
            "local t = require('mysql.tokenizer').tokenize('a') {rest}"
        ))
    };
    assert!(of("return t[1].nothing").contains("a token has no field nothing"));
    assert!(of("t[1] = 1").contains("only be set to nil"));
}

#[test]
fn statements_are_normalized_and_put_together() {
    check(
        r#"
        local t = require("proxy.tokenizer")
        local function normal(sql) return t.normalize(t.tokenize(sql)) end
        local cases = {
            ["select 1 from t where a='x' and b=count(*)"] = "SELECT ? FROM `t` WHERE `a` = ? AND `b` = COUNT( * ) ",
            ["update db.t set @a=1"] = "UPDATE `db` . `t` SET @a = ? ",
            ["/*!40000 select*/ 1"] = "/*!40000 select*/ ? ",
            ["start transaction"] = "START TRANSACTION ",
            ["commit"] = "COMMIT ", ["rollback"] = "ROLLBACK ", ["begin"] = "BEGIN ",
            ["/* note */ select 1.5 -- more"] = "SELECT ? ",
            ["select transaction"] = "SELECT `transaction` ",
            [""] = "",
        }
        for sql, expected in pairs(cases) do
            assert(normal(sql) == expected, normal(sql))
        end
        local tokens = t.tokenize("/* a */ select 'x', count(*) from t -- b")
        assert(t.first_stmt_token(tokens).token_name == "TK_SQL_SELECT")
        assert(table.concat(t.bare_tokens(tokens), "|") == "select|x|,|count|(|*|)|from|t")
        assert(t.bare_tokens(tokens, true)[2] == '"x"')
        assert(#t.tokens_without_comments(tokens) == 9)
        assert(t.tokens_to_query(tokens) == 'select "x" , count( * ) from t', t.tokens_to_query(tokens))
        assert(t.tokens_to_query(tokens, 2, 3) == 'select "x" ')
        assert(t.tokens_to_query(t.tokenize("select 'a'")) == 'select "a" ')
        "#,
    );
}

#[test]
fn tables_are_found() {
    check(
        r#"
        local t, parser = require("proxy.tokenizer"), require("proxy.parser")
        local cases = {
            ["select * from a, db.b as x join c on (c.id = x.id) where d = (select 1 from e)"] = "db.b=read test.a=read test.c=read",
            ["select 1"] = "",
            ["select * from a left join b using (id) order by c"] = "test.a=read test.b=read",
            ["select 1 from a union select 2 from b"] = "test.a=read test.b=read",
            ["delete from db.t where a = 1"] = "db.t=write",
            ["insert into t (a, b) values (1, 2)"] = "test.t=write",
            ["insert ignore into t values (1)"] = "test.t=write",
            ["insert into t(a) values(1)"] = "test.t=write",
            ["update t set a = 1 where b = 2"] = "test.t=write",
            ["create table db.t (a int)"] = "db.t=write",
            ["create table if not exists t (a int)"] = "test.t=write",
            ["drop table if exists a, b"] = "test.a=write test.b=write",
            ["alter table t add b int"] = "test.t=write",
            ["rename table a to b"] = "test.a=write test.b=write",
            ["/* note */ select * from `t`"] = "test.t=read",
        }
        for sql, expected in pairs(cases) do
            local found = {}
            for name, usage in pairs(parser.get_tables(t.tokenize(sql))) do
                found[#found + 1] = name .. "=" .. usage
            end
            table.sort(found)
            local got = table.concat(found, " ")
            assert(got == expected, sql .. " -> " .. got)
        end
        assert(parser.tablename_expand("t") == "test.t" and parser.tablename_expand("t", "db") == "db.t")
        "#,
    );
}

#[test]
fn commands_are_parsed_and_printed() {
    check(
        r#"
        local c = require("proxy.commands")
        local function of(kind, rest) return c.parse(string.char(kind) .. (rest or "")) end
        local q = of(proxy.COM_QUERY, "select 1")
        assert(q.type == 3 and q.type_name == "COM_QUERY" and q.query == "select 1")
        assert(c.pretty_print(q) == "[COM_QUERY] select 1")
        assert(of(proxy.COM_STMT_PREPARE, "x").query == "x")
        assert(of(proxy.COM_STMT_EXECUTE, "\1\2\0\0rest").stmt_handler_id == 513)
        assert(of(proxy.COM_STMT_CLOSE, "\255\255\255\255").stmt_handler_id == 4294967295)
        assert(of(proxy.COM_STMT_CLOSE, "\1").stmt_handler_id == nil)
        assert(of(proxy.COM_FIELD_LIST, "t\0%").table == "t")
        assert(of(proxy.COM_INIT_DB, "db").schema == "db" and of(proxy.COM_CREATE_DB, "db").schema == "db")
        assert(of(proxy.COM_DROP_DB, "db").schema == "db" and of(proxy.COM_SET_OPTION, "\1\0").option == 1)
        assert(c.pretty_print(of(proxy.COM_INIT_DB, "db")) == "[COM_INIT_DB] db")
        assert(c.pretty_print(of(proxy.COM_TIME)) == "[COM_TIME] ... no idea")
        assert(of(200).type == 200)
        "#,
    );
}

#[test]
fn balance_chooses_backends_with_idle_connections() {
    let mut scene = Scene::in_query(
        "local b = require('proxy.balance') print(b.idle_failsafe_rw(), b.idle_ro())",
    );
    scene.query("x");
    let idle = [
        ((1, b"me".to_vec()), 1),
        ((2, b"me".to_vec()), 1),
        ((0, b"you".to_vec()), 1),
    ];
    scene.recorder.idle.borrow_mut().extend(idle);
    scene.query("x");
    scene.backends.0[1].set_state(proxy::BackendState::Down);
    scene.query("x");
    assert_eq!(scene.printed(), ["0\t0", "2\t3", "0\t3"]);
}

#[test]
fn options_are_shown_set_saved_and_loaded() {
    let mut scene = Scene::new(
        r#"
        local auto_config, commands = require("proxy.auto-config"), require("proxy.commands")
        proxy.global.config.m = proxy.global.config.m or { size = 4, name = "x", is_on = false }
        function read_query(packet)
            local decision = proxy.global.config:handle(commands.parse(packet))
            if packet == "\3old form" then
                assert(auto_config.handle(commands.parse("\3proxy show config")) == proxy.PROXY_SEND_RESULT)
            end
            local m, r = proxy.global.config.m, proxy.response
            print(m.size, m.name, m.is_on, r.errmsg or r.affected_rows)
            return decision
        end
        "#,
    );
    let file = scene.directory.path().join("saved").display().to_string();
    let steps = [
        (
            "PROXY SET GLOBAL m.size = 8".to_owned(),
            true,
            "8\tx\tfalse\t1",
        ),
        (
            "proxy set global m.size = -8".to_owned(),
            true,
            "-8\tx\tfalse\t1",
        ),
        (
            "proxy set global m.name = \"y z\"".to_owned(),
            true,
            "-8\ty z\tfalse\t1",
        ),
        (
            "proxy set global m.is_on = true".to_owned(),
            true,
            "-8\ty z\ttrue\t1",
        ),
        (
            format!("proxy save config into \"{file}\""),
            true,
            "-8\ty z\ttrue\t0",
        ),
        (
            "proxy set global m.is_on = false".to_owned(),
            true,
            "-8\ty z\tfalse\t1",
        ),
        (
            format!("proxy load config from \"{file}\""),
            true,
            "-8\ty z\ttrue\t0",
        ),
        (
            "proxy set global n.size = 8".to_owned(),
            true,
            "-8\ty z\ttrue\tmodule not known",
        ),
        (
            "proxy set global m.sizes = 8".to_owned(),
            true,
            "-8\ty z\ttrue\toption not know",
        ),
        (
            "proxy set global m.size = \"8\"".to_owned(),
            true,
            "-8\ty z\ttrue\t(auto-config) expected a number, got string",
        ),
        (
            "proxy set global m.name = 8".to_owned(),
            true,
            "-8\ty z\ttrue\t(auto-config) expected a string, got number",
        ),
        (
            "proxy set global m.is_on = 8".to_owned(),
            true,
            "-8\ty z\ttrue\t(auto-config) expected a boolean, got number",
        ),
        (
            "proxy set global m.size = 8 and more".to_owned(),
            false,
            "-8\ty z\ttrue\tnil",
        ),
        ("select 1".to_owned(), false, "-8\ty z\ttrue\tnil"),
        ("old form".to_owned(), false, "-8\ty z\ttrue\tnil"),
        (
            format!("proxy show config{}", " ".repeat(128)),
            false,
            "-8\ty z\ttrue\tnil",
        ),
    ];
    for (statement, is_ours, expected) in &steps {
        let decision = scene.query(statement);
        assert_eq!(
            matches!(decision, Decision::Answer(_)),
            *is_ours,
            "{statement}"
        );
        assert_eq!(
            scene.printed().last().map(String::as_str),
            Some(*expected),
            "{statement}"
        );
    }
    let Decision::Answer(packets) = scene.query("PROXY SHOW CONFIG") else {
        panic!("no answer");
    };
    let row = &packets[packets.len() - 2];
    assert_eq!(row, b"\x01m\x04size\x02-8\x06number");
    assert_eq!(packets[0], [4]);
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn chassis_logs_and_takes_print() {
    let mut scene = Scene::in_query(
        r#"
        local chassis = require("chassis")
        print("to the log")
        os.print("to stdout")
        chassis.warning("careful")
        chassis.log("info", "news")
        assert(not pcall(chassis.log, "loud", "x"))
        assert(chassis.get_stats().chassis.lua_mem_bytes > 0 and chassis.get_stats("chassis") and not chassis.get_stats("x"))
        chassis.mem_profile()
        chassis.set_shutdown()
        "#,
    );
    scene.query("x");
    assert_eq!(scene.printed(), ["to stdout"]);
    assert!(scene.recorder.is_shut_down.get());
    let lines = scene.recorder.lines.borrow().clone();
    let found = |level: Level, text: &str| {
        lines
            .iter()
            .any(|(of, line)| *of == level && line.starts_with('(') && line.ends_with(text))
    };
    assert!(found(Level::Message, "x.lua:4) to the log"), "{lines:?}");
    assert!(found(Level::Warning, "x.lua:6) careful"), "{lines:?}");
    assert!(found(Level::Info, "x.lua:7) news"), "{lines:?}");
}

#[test]
fn system_functions_work() {
    let pid = std::process::id();
    let mut scene = Scene::in_query(&format!(
        r#"
        local posix, glib2, lfs = require("posix"), require("glib2"), require("lfs")
        assert(posix.getpid() == {pid})
        local user = posix.getpwuid(posix.getuid())
        assert(user.uid == posix.getuid() and user.name and user.gid and user.dir and user.shell)
        assert(posix.getpwuid(4294967294) == nil)
        assert(posix.kill(posix.getpid(), 0) == 0 and posix.kill(-1, 9) == -1 and posix.kill(1, 999) == -1)
        assert(glib2.md5("") == "d41d8cd98f00b204e9800998ecf8427e")
        local before = glib2.get_current_time()
        glib2.usleep(2000)
        local after = glib2.get_current_time()
        assert((after.tv_sec - before.tv_sec) * 1e6 + after.tv_usec - before.tv_usec >= 2000)
        local base = packet:sub(2) .. "/made"
        assert(lfs.mkdir(base) == true and not lfs.mkdir(base))
        assert(lfs.attributes(base).mode == "directory" and lfs.attributes(base, "mode") == "directory")
        local none, why = lfs.attributes(base .. "/none")
        assert(none == nil and type(why) == "string")
        io.open(base .. "/file", "w"):close()
        assert(lfs.touch(base .. "/file", 1000, 2000) == true)
        local a = lfs.attributes(base .. "/file")
        assert(a.access == 1000 and a.modification == 2000 and a.size == 0)
        local names = {{}}
        for name in lfs.dir(base) do names[#names + 1] = name end
        table.sort(names)
        assert(table.concat(names, ",") == ".,..,file")
        os.remove(base .. "/file")
        assert(lfs.rmdir(base) == true and not pcall(lfs.dir, base))
        assert(type(lfs.currentdir()) == "string" and lfs.chdir(lfs.currentdir()) == true)
        "#
    ));
    let directory = scene.directory.path().display().to_string();
    scene.query(&directory);
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn assertions_of_proxy_test_work() {
    check(
        r#"
        local t = require("proxy.test")
        t.assertEquals(1, 1) t.assertNotEquals(1, 2) t.assertTrue(true) t.assertNil(nil)
        assert(t.assertError(t.assertEquals, 1, 2):find("expected 2, got 1", 1, true))
        assert(t.assertError(t.assertNil, 1) and t.assertError(t.assertTrue, false))
        "#,
    );
}
