//! Tests of control groups of both versions.

use proptest::prelude::*;

use super::*;
use crate::fixture::Fixture;

#[test]
fn lists_are_counted() {
    for (list, count) in [
        ("0-3,8\n", Some(5)),
        ("2", Some(1)),
        ("", Some(0)),
        ("3-1", None),
        ("0-x", None),
        ("0-4294967295", None),
    ] {
        assert_eq!(count_in_list(list), count, "{list:?}");
    }
}

#[test]
fn limits_are_read() {
    for (quota_us, period_us, limit) in [
        ("50000", "100000", Some(0.5)),
        ("max", "100000", None),
        ("-1", "100000", None),
        ("50000", "0", None),
    ] {
        assert_eq!(quota(quota_us, period_us), limit, "{quota_us} {period_us}");
    }
    assert_eq!(limit_in("1073741824\n"), Some(1 << 30));
    assert_eq!(limit_in("max\n"), None);
    assert_eq!(limit_in("9223372036854771712\n"), None);
}

#[test]
fn requests_of_stacked_devices_count_once() {
    let stat = "254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n\
                253:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n\
                8:0 rbytes=100 rios=3\n7:1 \n";
    let sum = io_stat(stat, &mut |device| device == (253, 0));
    let expected = IoCounters {
        reads: 4,
        writes: 2,
        read_bytes: 4196,
        written_bytes: 8192,
    };
    assert_eq!(sum, expected);
    let serviced = "254:0 Read 10\n254:0 Write 5\n254:0 Total 15\n253:0 Read 10\nTotal 30\n";
    assert_eq!(
        blkio_sum(serviced, "Read", &mut |device| device == (253, 0)),
        10
    );
}

#[test]
fn a_limit_around_the_group_is_its_own() {
    let fixture = Fixture::unpack(
        "\n--- proc/7/cgroup\n0::/db.slice/mysql.service\n\
         --- proc/self/mountinfo\n30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
         --- sys/fs/cgroup/db.slice/cpu.max\n150000 100000\n\
         --- sys/fs/cgroup/db.slice/cpu.stat\nusage_usec 5000000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 900000\n\
         --- sys/fs/cgroup/db.slice/mysql.service/cpu.max\nmax 100000\n\
         --- sys/fs/cgroup/db.slice/mysql.service/cpu.stat\nusage_usec 1\n\
         --- sys/fs/cgroup/db.slice/mysql.service/memory.max\n2147483648\n\
         --- sys/fs/cgroup/db.slice/memory.max\n1073741824\n\
         --- sys/fs/cgroup/db.slice/mysql.service/memory.current\n536870912\n",
    );
    let kernel = fixture.kernel(100, 4096);
    let groups = Cgroups::of(&kernel, "7").unwrap();
    let limits = groups.limits(&kernel, Peer::Server).unwrap();
    assert_eq!(limits.cpu_limit, Some(1.5));
    assert_eq!(limits.memory_limit_bytes, Some(1 << 30));
    assert_eq!(
        (limits.version, limits.cpus, limits.io_limited),
        (2, None, false)
    );
    assert_eq!(limits.path, "/db.slice/mysql.service");
    let counters = groups.read(&kernel, |_| false);
    assert_eq!(
        counters.cpu_us,
        Some(5_000_000),
        "of the group with the limit"
    );
    assert_eq!(counters.throttled_us, Some(900_000));
    assert_eq!(counters.memory_bytes, Some(512 << 20));
}

#[test]
fn requests_to_limited_disks_are_counted_apart() {
    let fixture = Fixture::unpack(
        "\n--- proc/7/cgroup\n7:blkio:/dbdyno-1-1\n\
         --- proc/self/mountinfo\n30 1 0:26 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n\
         --- sys/fs/cgroup/blkio/dbdyno-1-1/blkio.throttle.write_iops_device\n7:1 1000\n\
         --- sys/fs/cgroup/blkio/dbdyno-1-1/blkio.throttle.io_serviced\n\
         7:1 Read 10\n7:1 Write 5\n254:0 Write 9\nTotal 24\n\
         --- sys/fs/cgroup/blkio/dbdyno-1-1/blkio.throttle.io_service_bytes\n\
         7:1 Read 4096\n7:1 Write 512\n254:0 Write 9\nTotal 4617\n",
    );
    let kernel = fixture.kernel(100, 4096);
    let groups = Cgroups::of(&kernel, "7").unwrap();
    // A loop device is stacked on the disk with its file, and yet it is the one with the limit.
    let counters = groups.read(&kernel, |device| device == (7, 1));
    let limited = counters.limited.unwrap();
    assert_eq!((limited.reads, limited.writes), (10, 5));
    assert_eq!((limited.read_bytes, limited.written_bytes), (4096, 512));
    assert_eq!(counters.io.unwrap().writes, 9);
    assert_eq!(
        counters.since(&counters).limited,
        Some(LimitedRequests::default())
    );
}

#[test]
fn a_group_that_cannot_be_seen_is_none() {
    for cgroup in ["0::/../other.scope\n", "0::/\n", "1:name=systemd:/a\n", ""] {
        let fixture = Fixture::unpack(&format!(
            "\n--- proc/7/cgroup\n{cgroup}\
             --- proc/self/mountinfo\n30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        ));
        assert!(
            Cgroups::of(&fixture.kernel(100, 4096), "7").is_none(),
            "{cgroup:?}"
        );
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "([0-9]{1,3}:[0-9]{1,3} |Read |rios=|[a-z0-9=:, \n-]{0,12}){0,9}") {
        io_stat(&text, &mut |_| false);
        blkio_sum(&text, "Read", &mut |_| false);
        count_in_list(&text);
        keyed(&text, "max");
    }
}
