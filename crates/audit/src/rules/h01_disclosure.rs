//! Rule H01: the machine or its storage is not recorded.

use samples::{BlockDevice, StorageRecord};

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
    storage::is_virtual,
};

pub(super) const RULE: Rule = Rule {
    id: "H01",
    name: "the machine and its storage are recorded",
    found: "the machine or its storage is not recorded",
    measures: "Whether the record describes the machine and its storage. Machine: CPU, cores, frequency governor, memory and kernel. Storage, for each directory that the server writes to: file system, mount options, device, kind of disk, scheduler and write cache.",
    threshold: "fail if the memory size is unknown, or if the storage is unknown. Warn if any other item on this list is unknown. On a virtual machine, this is only a note, because the host hides such details",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 1",
    consequence: "Hardware can change results by orders of magnitude. If the hardware is unknown, the figures can be neither judged nor repeated.",
    remedy: "Run dbdyno on the server's machine, or write the missing details down by hand. For a virtual disk, name the provider's product.",
    judge: Judge::RunOrStorage(judge, of_storage),
};

fn judge(run: &Run<'_>) -> Outcome {
    if run.record.machines.is_empty() {
        return Err(missing("the machine"));
    }
    let Ok(machine) = run.machine() else {
        let evidence =
            "the server's host was not observed: its CPU, memory and storage are unknown";
        return Ok(Finding::new(Level::Fail, evidence));
    };
    if machine.memory_bytes == 0 {
        return Ok(Finding::new(
            Level::Fail,
            "the size of the memory is unknown",
        ));
    }
    let Ok(storage) = run.storage() else {
        let evidence = "the storage of the server's directories is unknown";
        return Ok(Finding::new(Level::Fail, evidence));
    };
    if storage.places.is_empty() {
        return Ok(Finding::new(
            Level::Fail,
            "none of the server's directories was examined",
        ));
    }
    let mut unknown = Vec::new();
    if machine.cpu_model.is_empty() {
        unknown.push("the CPU's model".to_owned());
    }
    let cpu = machine.cpu.as_ref();
    if cpu.is_none_or(|cpu| cpu.governors.is_empty()) {
        unknown.push("the frequency governor".to_owned());
    }
    if cpu.is_none_or(|cpu| cpu.cores.is_none()) {
        unknown.push("the cores".to_owned());
    }
    unknown.extend(storage.disks().flat_map(lacks));
    unknown.extend(storage.not_observed.iter().cloned());
    let count = unknown.len() as f64;
    let level = level_of(&unknown, machine.virtualised);
    let evidence = if unknown.is_empty() {
        format!(
            "{}, {}, {} of memory, Linux {}, {} directories with their devices",
            machine.cpu_model,
            units::counted(machine.cpus as usize, "CPU"),
            units::bytes(machine.memory_bytes),
            machine.kernel,
            storage.places.len()
        )
    } else {
        format!("unknown: {}", unknown.join(", "))
    };
    Ok(Finding::new(level, evidence).with("unknown_fields", count))
}

/// The machine is its memory here: no server ran.
fn of_storage(record: &StorageRecord) -> Outcome {
    let header = &record.header;
    let storage = &header.storage;
    let mut unknown = storage.not_observed.clone();
    if header.memory_bytes.is_none() && header.imported_from.is_empty() {
        unknown.push("the machine's memory".to_owned());
    }
    unknown.extend(record.header.storage.disks().flat_map(lacks));
    let is_unseen = storage.places.is_empty() || header.memory_bytes.is_none();
    let level = if is_unseen {
        Level::Fail
    } else {
        level_of(&unknown, record.header.storage.disks().all(is_virtual))
    };
    let evidence = if unknown.is_empty() {
        let names: Vec<_> = record
            .header
            .storage
            .disks()
            .map(|it| it.name.as_str())
            .collect();
        format!(
            "recorded: the file system and its disks ({})",
            names.join(", ")
        )
    } else {
        format!("unknown: {}", unknown.join(", "))
    };
    Ok(Finding::new(level, evidence).with("unknown_fields", unknown.len() as f64))
}

fn level_of(unknown: &[String], is_virtual: bool) -> Level {
    match (unknown.is_empty(), is_virtual) {
        (true, _) => Level::Pass,
        (_, true) => Level::Note,
        (_, false) => Level::Warn,
    }
}

fn lacks(device: &BlockDevice) -> Vec<String> {
    let fields = [
        ("model", device.model.is_none()),
        ("kind (rotating or not)", device.rotational.is_none()),
        ("scheduler", device.scheduler.is_none()),
        ("write cache", device.write_cache.is_none()),
    ];
    let lacking = fields.into_iter().filter(|(_, is_unknown)| *is_unknown);
    lacking
        .map(|(field, _)| format!("the {field} of {}", device.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| record.storage.clear());
        assert_found(&outcome, Level::Fail, "server's directories is unknown");
        let hide_model = |record: &mut samples::Record| record.storage[0].devices[0].model = None;
        assert_found(
            &judged(&RULE, hide_model),
            Level::Warn,
            "the model of nvme0n1",
        );
        let outcome = judged(&RULE, |record| {
            hide_model(record);
            record.machines[0].virtualised = true;
        });
        assert_found(&outcome, Level::Note, "the model of nvme0n1");
    }

    #[test]
    fn storage_that_was_measured_is_described() {
        assert_found(
            &judged_storage(&RULE, |_| {}),
            Level::Pass,
            "the file system and its disks (nvme0n1)",
        );
        let outcome = judged_storage(&RULE, |record| {
            record.header.storage.devices[0].scheduler = None;
        });
        assert_found(&outcome, Level::Warn, "the scheduler of nvme0n1");
        let outcome = judged_storage(&RULE, |record| {
            let device = &mut record.header.storage.devices[0];
            (device.name, device.model) = ("vda".to_owned(), None);
        });
        assert_found(&outcome, Level::Note, "the model of vda");
        let outcome = judged_storage(&RULE, |record| {
            record.header.storage = samples::Storage::default();
            record.header.storage.not_observed = vec!["the device".to_owned()];
        });
        assert_found(&outcome, Level::Fail, "unknown: the device");
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "AMD EPYC 7543, 8 CPUs, 16.0 GiB",
        );
        let outcome = judged(&RULE, |record| record.machines[0].cpus = 1);
        assert_found(&outcome, Level::Pass, "AMD EPYC 7543, 1 CPU, 16.0 GiB");
    }
}
