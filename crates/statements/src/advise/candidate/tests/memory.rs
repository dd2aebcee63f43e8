//! Tests of larger buffers.

use super::*;

#[test]
fn memory_is_a_candidate_where_it_overflows() {
    let text = "select 1 AS `1` from `s`.`t`";
    let tree = SCAN.replace("rows=5000", "rows=6");
    let costs = [
        ("Sort_merge_passes", 3),
        ("Innodb_buffer_pool_read_requests", 1000),
        ("Innodb_buffer_pool_reads", 900),
    ];
    assert_eq!(
        candidates(&tree, text, &[], &costs),
        [
            "set sort_buffer_size = 33554432",
            "option innodb_buffer_pool_size = 1073741824"
        ]
    );
    assert!(candidates(&tree, text, &[], &[]).is_empty());
    for (bytes, larger) in [
        (0, Some(32 << 20)),
        (8 << 20, Some(32 << 20)),
        (64 << 20, Some(256 << 20)),
        (512 << 20, None),
    ] {
        assert_eq!(larger_buffer(bytes, SORT_BYTES), larger, "{bytes}");
    }
}
