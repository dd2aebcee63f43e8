//! Fabricated executions for the tests of this crate.

use std::collections::BTreeMap;

use crate::{
    execution::{Execution, MemoryUse, ServerCpus},
    service_demand::Demands,
};

/// An execution of a buffer pool of this share of 1 GB of data, with a throughput and demands of 1.
pub(crate) fn execution(share: f64, concurrency: u32, block: u32) -> Execution {
    Execution {
        name: format!("run-{block}.jsonl"),
        results: 0,
        block,
        levels: BTreeMap::new(),
        concurrency,
        throughput_per_s: 1.0,
        demands: Demands::from_fn(|_| Some(1.0)),
        memory: Some(MemoryUse {
            data_bytes: 1_000_000_000,
            buffer_pool_bytes: (share * 1e9) as u64,
        }),
        cpus: Some(ServerCpus {
            count: 2.0,
            available: 2.0,
        }),
        limited_by: None,
    }
}
