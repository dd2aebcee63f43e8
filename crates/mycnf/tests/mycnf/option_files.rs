//! Tests of option files on disk: includes, the client's reading order, and a round trip with generated text.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use mycnf::{ClientFiles, ClientOptions, Error, OptionFile, Transport};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Each option as `name=value`, in order.
fn shown(file: &OptionFile) -> Vec<String> {
    file.entries()
        .iter()
        .map(|entry| match &entry.value {
            Some(value) => format!("--{}={value}", entry.name),
            None => format!("--{}", entry.name),
        })
        .collect()
}

#[test]
fn includes_are_read_in_their_place_and_keep_the_group() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("conf.d")).unwrap();
    write(&path("conf.d/b.cnf"), "[mysqld]\nb=2\n");
    write(&path("conf.d/a.cnf"), "[mysqld]\na=1\n");
    write(&path("conf.d/ignored.txt"), "nonsense\n");
    write(&path("one.cnf"), "[client]\none=1\n");
    let root = dir.path().display();
    let text =
        format!("[mysqld]\nfirst=0\n!includedir {root}/conf.d/\n!include {root}/one.cnf\nlast=3\n");
    write(&path("my.cnf"), &text);

    let file = OptionFile::read(&path("my.cnf")).unwrap();
    assert_eq!(
        shown(&file),
        ["--first=0", "--a=1", "--b=2", "--one=1", "--last=3"]
    );
    let last = file.entries().last().unwrap();
    assert_eq!(last.group, "mysqld");
    assert_eq!(
        last.origin.to_string(),
        format!("{} line 5", path("my.cnf").display())
    );
}

#[test]
fn errors_name_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.cnf");
    let own = path.display();
    for (text, message) in [
        (
            "[mysqld]\na=1\n[client\n".to_owned(),
            format!("{own} line 3: a group's name lacks its ]"),
        ),
        (
            "\na=1\n".to_owned(),
            format!("{own} line 2: an option is before the first [group]"),
        ),
        (
            "[a]\n!include /no/such.cnf\n".to_owned(),
            format!("{own} line 2: cannot include /no/such.cnf: "),
        ),
        (
            "!includedir /no/such\n".to_owned(),
            format!("{own} line 1: cannot include /no/such: "),
        ),
        (
            format!("!include {own}\n"),
            format!("{own} line 1: includes nest more than 10 files deep"),
        ),
    ] {
        write(&path, &text);
        let error = OptionFile::read(&path).unwrap_err().to_string();
        assert!(error.starts_with(&message), "{error}");
    }
    fs::write(&path, b"# gr\xfc\xdfe\n[a]\nx=\xfc\n").unwrap();
    let error = OptionFile::read(&path).unwrap_err().to_string();
    assert_eq!(error, format!("{own} line 3: the line is not UTF-8"));
}

fn client(text: &str) -> Result<ClientOptions, Error> {
    ClientOptions::from_file(&OptionFile::parse(text, Path::new("my.cnf")).unwrap())
}

#[test]
fn client_files_win_in_the_mysql_clients_order() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().to_owned();
    let extra = home.join("extra.cnf");
    write(&extra, "[client]\nuser=extra\nport=3307\nhost=db1\n");
    write(
        &home.join(".my.cnf"),
        "[dbdyno]\nuser=me\n[client]\npassword=\"a#b\"\n[mysqldump]\nhost=other\n",
    );
    let files = ClientFiles {
        defaults_extra_file: Some(extra.clone()),
        home: Some(home.clone()),
        ..ClientFiles::default()
    };
    let read = ClientOptions::read(&files).unwrap();
    assert_eq!(
        (
            read.user.as_deref(),
            read.port,
            read.host.as_deref(),
            read.password.as_deref()
        ),
        (Some("me"), Some(3307), Some("db1"), Some("a#b"))
    );
    assert!(
        !format!("{read:?}").contains("a#b"),
        "a password must not be shown"
    );

    let none = ClientFiles {
        no_defaults: true,
        ..files.clone()
    };
    assert_eq!(
        ClientOptions::read(&none).unwrap(),
        ClientOptions::default()
    );
    let missing = ClientFiles {
        defaults_file: Some(home.join("none")),
        ..files.clone()
    };
    assert!(matches!(
        ClientOptions::read(&missing),
        Err(Error::Read { .. })
    ));

    fs::set_permissions(home.join(".my.cnf"), fs::Permissions::from_mode(0o666)).unwrap();
    let read = ClientOptions::read(&files).unwrap();
    assert_eq!(read.user.as_deref(), Some("extra"));
    assert_eq!(read.ignored, [home.join(".my.cnf")]);
}

#[test]
fn client_values_are_checked_and_tls_wishes_understood() {
    for (text, mode) in [
        ("", None),
        ("ssl", Some("REQUIRED")),
        ("skip-ssl", Some("DISABLED")),
        ("ssl\nssl=0", Some("DISABLED")),
        ("ssl-verify-server-cert", Some("VERIFY_IDENTITY")),
        ("ssl_mode=verify_ca\nskip_ssl", Some("VERIFY_CA")),
    ] {
        let read = client(&format!("[client]\n{text}\n")).unwrap();
        assert_eq!(read.ssl_mode.as_deref(), mode, "{text}");
    }
    let read = client("[client-server]\nport=0\nprotocol=TCP\nhost=\nskip-password\n").unwrap();
    assert_eq!(
        (read.port, read.transport, read.host),
        (None, Some(Transport::Tcp), None)
    );
    for (text, message) in [
        (
            "port=70000",
            "my.cnf line 2: option port: '70000' is not a port number",
        ),
        (
            "protocol=pipe",
            "my.cnf line 2: option protocol: 'pipe' is not tcp or socket",
        ),
        (
            "ssl=perhaps",
            "my.cnf line 2: option ssl: 'perhaps' is not 0 or 1",
        ),
        (
            "password",
            "my.cnf line 2: the option password has no value, and dbdyno does not prompt",
        ),
    ] {
        let error = client(&format!("[client]\n{text}\n")).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

/// One line of text that the servers' own parser accepts; their program decides.
fn any_line() -> impl Strategy<Value = String> {
    let soup = proptest::string::string_regex(r#"[ a-c_=#;"'\\nts\t-]{0,20}"#).unwrap();
    (
        proptest::string::string_regex("[a-c][a-c_-]{0,4}").unwrap(),
        soup,
    )
        .prop_map(|(name, rest)| format!("{name}{rest}"))
}

proptest! {
    #[test]
    fn what_is_printed_reads_back_the_same(
        options in prop::collection::vec(
            ("[a-z][a-z0-9_-]{0,20}", prop::option::of("[^\0]{0,40}")), 0..20)
    ) {
        let mut file = OptionFile::default();
        for (name, value) in &options {
            file.push("mysqld", name, value.clone()).unwrap();
        }
        let again = OptionFile::parse(&file.to_string(), Path::new("printed.cnf")).unwrap();
        prop_assert_eq!(shown(&again), shown(&file));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(?s).{0,200}") {
        // An include could refer to any file on this machine.
        prop_assume!(!text.contains('!'));
        let _ = OptionFile::parse(&text, Path::new("any.cnf"));
    }
}

#[test]
fn lines_mean_what_they_mean_to_the_servers_own_reader() {
    let Ok(version) = Command::new("my_print_defaults").arg("--version").output() else {
        eprintln!("skipped: my_print_defaults is not installed");
        return;
    };
    assert!(version.status.success());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lines.cnf");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let lines = prop::collection::vec(any_line(), 200);
    for _ in 0..5 {
        let lines = lines.new_tree(&mut runner).unwrap().current();
        write(&path, &format!("[client]\n{}\n", lines.join("\n")));
        let output = Command::new("my_print_defaults")
            .arg(format!("--defaults-file={}", path.display()))
            .arg("client")
            .output()
            .unwrap();
        let ours = shown(&OptionFile::read(&path).unwrap()).join("\n") + "\n";
        assert_eq!(ours, String::from_utf8(output.stdout).unwrap());
    }
}
