//! The target that executions under limits of the kernel emulate.

use std::cmp::Reverse;

use crate::{
    cells::{is_same_share, mean},
    execution::{EmulatedExecution, Execution},
    target::Target,
};

/// Executions under the same limits, with the same buffer pool and the same data.
#[derive(Debug)]
pub(crate) struct EmulatedTarget<'e>(Vec<&'e EmulatedExecution>);

/// The executions of one number of connections.
#[derive(Debug, PartialEq)]
pub(crate) struct TestedExecutions<'e> {
    pub(crate) connections: u32,
    /// Two or more.
    pub(crate) executions: Vec<&'e Execution>,
}

impl<'e> EmulatedTarget<'e> {
    /// Of the emulated targets the one that has most in common with a target; `None` without any.
    pub(crate) fn nearest(all: &'e [EmulatedExecution], target: &Target) -> Option<Self> {
        let mut targets: Vec<Self> = Vec::new();
        for execution in all {
            match targets.iter_mut().find(|it| it.is_of(execution)) {
                Some(own) => own.0.push(execution),
                None => targets.push(Self(vec![execution])),
            }
        }
        let targets = targets.into_iter();
        targets.max_by_key(|it| (Reverse(it.not_emulated(target).len()), it.0.len()))
    }

    fn is_of(&self, execution: &EmulatedExecution) -> bool {
        let first = self.0[0];
        let cpus = |it: &EmulatedExecution| it.execution.cpus.map(|cpus| cpus.count);
        let memories = first.execution.memory.zip(execution.execution.memory);
        let is_same_memory = memories.is_none_or(|(own, other)| {
            own.buffer_pool_bytes == other.buffer_pool_bytes
                && is_same_share(own.data_bytes as f64, other.data_bytes as f64)
        });
        first.read_iops == execution.read_iops
            && first.write_iops == execution.write_iops
            && cpus(first) == cpus(execution)
            && is_same_memory
    }

    /// What was emulated: the limits, the CPUs of the machine if they were not limited, the buffer pool and the data.
    pub(crate) fn limits(&self) -> Target {
        let first = self.0[0];
        Target {
            cpus: first.execution.cpus.map(|cpus| cpus.count),
            buffer_pool_bytes: first.execution.memory.map(|it| it.buffer_pool_bytes),
            data_bytes: first.execution.memory.map(|it| it.data_bytes),
            read_iops: first.read_iops,
            write_iops: first.write_iops,
            ..Target::default()
        }
    }

    /// The target whose prediction is tested. The client and other programs used a part of the CPUs; a target has all of
    /// its CPUs for the server.
    pub(crate) fn for_prediction(&self) -> Target {
        let available = self.0.iter().filter_map(|it| it.execution.cpus);
        Target {
            cpus: mean(available.map(|cpus| cpus.available)),
            ..self.limits()
        }
    }

    /// The names in `--target` whose values were not emulated.
    pub(crate) fn not_emulated(&self, target: &Target) -> Vec<&'static str> {
        let own = self.limits();
        let is_other = |wanted: Option<f64>, own: Option<f64>| {
            wanted.is_some_and(|wanted| own.is_none_or(|own| (own / wanted - 1.0).abs() > 0.005))
        };
        let is_other_size = |wanted: Option<u64>, own: Option<u64>| {
            let sizes = wanted.zip(own);
            wanted.is_some() && !sizes.is_some_and(|(a, b)| is_same_share(a as f64, b as f64))
        };
        let pool = target.buffer_pool().map(|pool| pool.bytes);
        let pool_name = match target.memory_bytes {
            Some(_) => "memory",
            None => "buffer_pool",
        };
        let all = [
            ("cpus", is_other(target.cpus, own.cpus)),
            (pool_name, is_other_size(pool, own.buffer_pool_bytes)),
            ("data", is_other_size(target.data_bytes, own.data_bytes)),
            ("read_iops", is_other(target.read_iops, own.read_iops)),
            ("write_iops", is_other(target.write_iops, own.write_iops)),
            ("fsync", target.fsync_s.is_some()),
            ("net", target.net_bytes_per_s.is_some()),
        ];
        let missing = all.into_iter().filter(|(_, is_missing)| *is_missing);
        missing.map(|(name, _)| name).collect()
    }

    /// The executions with the number of connections whose mean throughput is highest, of those with two or more
    /// executions; `None` without any.
    pub(crate) fn fastest(&self) -> Option<TestedExecutions<'e>> {
        let mut all: Vec<TestedExecutions<'e>> = Vec::new();
        for emulated in &self.0 {
            let execution = &emulated.execution;
            let connections = execution.concurrency;
            match all.iter_mut().find(|it| it.connections == connections) {
                Some(own) => own.executions.push(execution),
                None => all.push(TestedExecutions {
                    connections,
                    executions: vec![execution],
                }),
            }
        }
        all.retain(|it| it.executions.len() > 1);
        let throughput = |it: &TestedExecutions<'_>| {
            let all = it.executions.iter().map(|it| it.throughput_per_s);
            mean(all).unwrap_or(0.0)
        };
        let all = all.into_iter();
        all.max_by(|a, b| throughput(a).total_cmp(&throughput(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{execution::ServerCpus, target::parse_target, testing::execution};

    /// Executions of a quarter of 1 GB in memory on one of two CPUs, of which the client leaves 0.9.
    fn emulated(
        read_iops: u64,
        connections: u32,
        block: u32,
        throughput_per_s: f64,
    ) -> EmulatedExecution {
        EmulatedExecution {
            execution: Execution {
                throughput_per_s,
                cpus: Some(ServerCpus {
                    count: 1.0,
                    available: 0.9,
                }),
                ..execution(0.25, connections, block)
            },
            read_iops: Some(read_iops as f64),
            write_iops: None,
        }
    }

    #[test]
    fn the_target_with_most_in_common_is_tested() {
        let all = [
            emulated(300, 16, 1, 100.0),
            emulated(300, 16, 2, 110.0),
            emulated(500, 16, 1, 200.0),
            emulated(500, 16, 2, 210.0),
            emulated(300, 32, 1, 120.0),
            emulated(300, 32, 2, 130.0),
            // Without a second execution.
            emulated(300, 64, 1, 900.0),
        ];
        let target = |text: &str| parse_target(text).unwrap();
        let wanted = target("cpus=1,buffer_pool=250000K,read_iops=300,fsync=1ms");
        let found = EmulatedTarget::nearest(&all, &wanted).unwrap();
        assert_eq!(found.limits().read_iops, Some(300.0));
        assert_eq!(found.not_emulated(&wanted), ["fsync"]);
        assert_eq!(found.limits().cpus, Some(1.0));
        let predicted = found.for_prediction().cpus.unwrap();
        assert!((predicted - 0.9).abs() < 1e-12, "{predicted}");
        let tested = found.fastest().unwrap();
        assert_eq!((tested.connections, tested.executions.len()), (32, 2));
        let other = target("cpus=8,memory=8G,data=1G,read_iops=500,write_iops=10,net=1G");
        let found = EmulatedTarget::nearest(&all, &other).unwrap();
        assert_eq!(found.limits().read_iops, Some(500.0));
        assert_eq!(
            found.not_emulated(&other),
            ["cpus", "memory", "data", "write_iops", "net"]
        );
        assert!(EmulatedTarget::nearest(&[], &wanted).is_none());
        let once = EmulatedTarget::nearest(&all[..1], &wanted).unwrap();
        assert_eq!(once.fastest(), None);
    }
}
