//! Results that a script asked to keep: their memory, and the times that they come with.

use std::rc::{Rc, Weak};

use proxy::{Decision, Level, QueryResult};

use crate::scene::{Scene, done, rows};

const MIB: usize = 1 << 20;

/// A result with a row of this size, of which `alive` tells how long it is kept.
fn result_of(bytes: usize, alive: &mut Vec<Weak<Vec<Vec<u8>>>>) -> QueryResult {
    let mut result = rows(false);
    let mut packets = result.packets.as_deref().cloned().unwrap_or_default();
    let mut row = vec![1, b'1', 0xfd];
    row.extend_from_slice(&u32::try_from(bytes).unwrap_or_default().to_le_bytes()[..3]);
    row.extend_from_slice(&vec![b'x'; bytes]);
    packets[4] = row;
    let packets = Rc::new(packets);
    alive.push(Rc::downgrade(&packets));
    result.packets = Some(packets);
    result
}

/// The largest number of results that were alive at once, of 300 with 1 MiB each.
fn most_alive(scene: &mut Scene) -> usize {
    let (mut alive, mut most) = (Vec::new(), 0);
    for _ in 0..300 {
        let result = result_of(MIB, &mut alive);
        assert_eq!(scene.result(result), Decision::Ignore);
        alive.retain(|it| it.strong_count() > 0);
        most = most.max(alive.len());
    }
    most
}

/// A hook that reads all rows and forgets them.
const READ_ALL: &str = "function read_query_result(inj)
    local bytes = 0
    for row in inj.resultset.rows do bytes = bytes + #(row[2] or '') end
    assert(bytes == 2 ^ 20)
    return proxy.PROXY_IGNORE_RESULT
end";

#[test]
fn results_that_a_script_has_forgotten_are_freed() {
    for limit in [None, Some(32 * MIB)] {
        let mut scene = Scene::with_memory(READ_ALL, limit);
        let most = most_alive(&mut scene);
        assert!(most <= 40, "{most} MiB at once, with the limit {limit:?}");
        assert_eq!(scene.logged(Level::Warning), [""; 0]);
    }
}

#[test]
fn results_that_a_script_keeps_count_towards_its_limit() {
    let mut scene = Scene::with_memory(
        "function read_query() proxy.global.all = nil end
         function read_query_result(inj)
             proxy.global.all = proxy.global.all or {}
             table.insert(proxy.global.all, inj)
             return proxy.PROXY_IGNORE_RESULT
         end",
        Some(16 * MIB),
    );
    let mut alive = Vec::new();
    let mut feed = |scene: &mut Scene| {
        let result = result_of(MIB, &mut alive);
        scene.result(result)
    };
    for _ in 0..10 {
        assert_eq!(feed(&mut scene), Decision::Ignore);
    }
    let refused = (0..10).filter(|_| feed(&mut scene) == Decision::PassOn);
    assert!((3..8).contains(&refused.count()));
    let text = scene.complaint();
    assert!(
        text.starts_with("(read_query_result) not enough memory: the result has "),
        "{text}"
    );
    // What it forgets is free again.
    scene.query("forget");
    assert_eq!(feed(&mut scene), Decision::Ignore);
    alive.retain(|it| it.strong_count() > 0);
    assert_eq!(alive.len(), 1);
}

#[test]
fn the_columns_of_a_result_are_read_once() {
    let mut scene = Scene::new(
        "function read_query_result(inj)
             local before = collectgarbage('count')
             for i = 1, 20000 do assert(inj.resultset.fields[2].name == 'b') end
             collectgarbage()
             assert(collectgarbage('count') < before + 1000)
         end",
    );
    assert_eq!(scene.result(rows(true)), Decision::PassOn);
    assert_eq!(scene.logged(Level::Warning), [""; 0]);
}

#[test]
fn times_count_from_the_append() {
    let mut scene = Scene::new(
        "local first
         function read_query()
             proxy.queries:append(2, 'b')
             require('glib2').usleep(20000)
             proxy.queries:prepend(1, 'a')
             return proxy.PROXY_SEND_QUERY
         end
         function read_query_result(inj)
             local is_longer = first and inj.query_time - first > 19000
             first = first or inj.query_time
             print(inj.id, is_longer, inj.response_time - inj.query_time)
         end",
    );
    assert_eq!(scene.query("x"), Decision::SendQueue);
    for _ in 0..2 {
        let injection = scene.session.borrow_mut().queries.pop_front();
        let mut result = done();
        result.injection = injection.unwrap_or(result.injection);
        scene.result(result);
    }
    // Not of the queue: its own times.
    scene.result(done());
    assert_eq!(
        scene.printed(),
        ["1\tnil\t10", "2\ttrue\t10", "7\tfalse\t10"]
    );
}
