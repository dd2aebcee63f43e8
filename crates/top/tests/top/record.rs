//! Tests of a replayed record, and of one that is followed.

use top::{Key, Playback, Source};

use crate::shown::{after, record, screen};

const WIDE: (u16, u16) = (120, 40);
const USUAL: (u16, u16) = (80, 24);

#[test]
fn a_replay_shows_every_panel() {
    let model = record("mariadb-tpcc.jsonl");
    let mut screen = screen(Source::Replay);
    let second = [Key::Right];
    insta::assert_snapshot!("overview_wide", after(&mut screen, &second, &model, WIDE));
    insta::assert_snapshot!("overview_usual", after(&mut screen, &[], &model, USUAL));
    for (digit, name) in [
        ('2', "statements"),
        ('3', "waits"),
        ('4', "connections"),
        ('5', "innodb"),
        ('6', "machine"),
    ] {
        let shown = after(&mut screen, &[Key::Char(digit)], &model, (100, 30));
        insta::assert_snapshot!(name, shown);
    }
}

#[test]
fn a_mysql_with_performance_schema_has_statements_and_waits_of_the_whole_run() {
    let model = record("mysql-insert.jsonl");
    let mut screen = screen(Source::Replay);
    let keys = [Key::End, Key::Char('2')];
    insta::assert_snapshot!(
        "mysql_statements",
        after(&mut screen, &keys, &model, (100, 20))
    );
    let keys = [Key::Char('3'), Key::Char('s')];
    insta::assert_snapshot!("mysql_waits", after(&mut screen, &keys, &model, (100, 20)));
}

#[test]
fn a_narrow_terminal_has_one_column_and_a_tiny_one_says_so() {
    let model = record("mariadb-read-write.jsonl");
    let mut screen = screen(Source::Replay);
    let shown = after(&mut screen, &[Key::Right], &model, (60, 20));
    insta::assert_snapshot!("overview_narrow", shown);
    let tiny = after(&mut screen, &[], &model, (39, 10));
    assert!(tiny.contains("39 x 10 is too small:"), "{tiny}");
    // Nothing may panic, however small the terminal.
    for width in 1..45 {
        for height in 1..14 {
            for key in ['1', '2', '3', '4', '5', '6', '?'] {
                after(&mut screen, &[Key::Char(key)], &model, (width, height));
            }
        }
    }
}

#[test]
fn the_title_says_where_in_time_the_reader_looks() {
    let model = record("mariadb-tpcc.jsonl");
    let title = |screen: &mut top::Screen, keys: &[Key]| {
        let shown = after(screen, keys, &model, WIDE);
        shown.lines().next().unwrap_or_default().to_owned()
    };
    let mut replay = screen(Source::Replay);
    let at_first = title(&mut replay, &[]);
    assert!(
        at_first.ends_with("replay x1 1 s of 3 s  warm-up"),
        "{at_first}"
    );
    let faster = title(&mut replay, &[Key::Char('+'), Key::Right]);
    assert!(
        faster.ends_with("replay x2 2 s of 3 s  measurement"),
        "{faster}"
    );
    let paused = title(&mut replay, &[Key::Char(' ')]);
    assert!(paused.contains("PAUSED 2 s of 3 s"), "{paused}");
    let end = title(&mut replay, &[Key::Char(' '), Key::End]);
    assert!(end.contains("end 3 s of 3 s"), "{end}");

    let mut following = screen(Source::Following);
    let newest = title(&mut following, &[]);
    assert!(
        newest.ends_with("run over, waiting for the next"),
        "{newest}"
    );
    let back = title(&mut following, &[Key::Left, Key::Left]);
    assert!(back.contains("PAUSED, 2 s back"), "{back}");
}

#[test]
fn a_replay_moves_with_time() {
    let model = record("mariadb-open-loop.jsonl");
    let mut screen = screen(Source::Replay);
    screen.playback = Playback::new(Source::Replay, 4.0);
    let at = |screen: &top::Screen| screen.playback.at_s(&model);
    let begin = at(&screen);
    screen.playback.advance(0.5, &model);
    assert!((at(&screen) - begin - 2.0).abs() < 1e-9);
    screen.playback.advance(1e6, &model);
    assert_eq!(at(&screen), model.end_s());
}
