//! A storage record's first line made up for the tests of those who read one.

use crate::{BlockDevice, STORAGE_FORMAT, Storage, StorageDirectory, StorageHeader, StorageMode};

/// A suite of 60 seconds each on a file of 16 GiB below `/data`: ext4 on one NVMe drive, a machine with 16 GiB of memory.
pub fn storage_header() -> StorageHeader {
    let place = StorageDirectory {
        holds: vec!["test file".to_owned()],
        path: "/data".to_owned(),
        filesystem: "ext4".to_owned(),
        mount_point: "/".to_owned(),
        mount_options: "noatime,rw".to_owned(),
        size_bytes: 250 << 30,
        device: Some("nvme0n1".to_owned()),
        ..StorageDirectory::default()
    };
    let device = BlockDevice {
        name: "nvme0n1".to_owned(),
        kind: "disk".to_owned(),
        model: Some("PM9A3".to_owned()),
        rotational: Some(false),
        scheduler: Some("none".to_owned()),
        write_cache: Some("write back".to_owned()),
        ..BlockDevice::default()
    };
    StorageHeader {
        format: STORAGE_FORMAT,
        dbdyno_version: "0.1.0".to_owned(),
        mode: StorageMode::Suite,
        at: "2026-01-02T03:04:05Z".to_owned(),
        directory: "/data".to_owned(),
        storage: Storage {
            places: vec![place],
            devices: vec![device],
            ..Storage::default()
        },
        direct: true,
        file_bytes: 16 << 30,
        memory_bytes: Some(16 << 30),
        each_s: 60.0,
        engine: "libaio".to_owned(),
        fio_version: Some("fio-3.33".to_owned()),
        patterns: Vec::new(),
        repeats: 1,
        order_seed: None,
        writers: vec![1],
        left_out: Vec::new(),
        limit: None,
        imported_from: Vec::new(),
    }
}
