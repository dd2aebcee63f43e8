//! The data of a target: how much there is, and the share of it in memory.

use crate::{
    cells::Cells, error::Error, execution::MemoryUse, limit_outcome::NO_MEMORY_KNOWN,
    memory_position::TargetData, target::Target,
};

/// Sizes that differ by less are the same.
const SAME_SIZE: f64 = 0.05;

/// The data of a target; `None` if the records do not say how much memory and data they had.
///
/// What the target does not name is taken from the records: an error if they have several sizes.
pub(crate) fn target_data(
    target: &Target,
    cells: &Cells<'_>,
    zipf: f64,
) -> Result<Option<TargetData>, Error> {
    let Some(memories) = memories(cells) else {
        return Ok(None);
    };
    let bytes = bytes_of_data(target, &memories)?;
    let pools: Vec<u64> = memories.iter().map(|it| it.buffer_pool_bytes).collect();
    let buffer_pool_bytes = match (target.buffer_pool(), only(&pools)) {
        (Some(pool), _) => pool.bytes,
        (None, Ok(bytes)) => bytes,
        (None, Err(measured)) => {
            let measured = format!("buffer pools of {measured}");
            return Err(Error::MemoryMissing { measured });
        }
    };
    let memory = MemoryUse {
        data_bytes: bytes,
        buffer_pool_bytes,
    };
    Ok(Some(TargetData {
        share: memory.share(),
        bytes,
        zipf,
    }))
}

/// The size of the data of a target; `None` if the records do not say how much memory and data they had.
///
/// An error if neither the target names it nor all records have the same.
pub(crate) fn data_bytes(target: &Target, cells: &Cells<'_>) -> Result<Option<u64>, Error> {
    let memories = memories(cells);
    memories
        .map(|memories| bytes_of_data(target, &memories))
        .transpose()
}

/// What of the records, and of the target because of them, is not used.
pub(crate) fn remarks_on_records(target: &Target, cells: &Cells<'_>) -> Vec<String> {
    let single = (cells.single > 0).then(|| {
        let count = units::counted(cells.single, "combination");
        format!("{count} with only one execution: left out")
    });
    let is_ignored = target.names_memory() && cells.shares.is_empty();
    let ignored =
        is_ignored.then(|| format!("memory and data of the target are ignored: {NO_MEMORY_KNOWN}"));
    single.into_iter().chain(ignored).collect()
}

fn memories(cells: &Cells<'_>) -> Option<Vec<MemoryUse>> {
    cells.executions().map(|it| it.memory).collect()
}

fn bytes_of_data(target: &Target, memories: &[MemoryUse]) -> Result<u64, Error> {
    let data: Vec<u64> = memories.iter().map(|it| it.data_bytes).collect();
    match (target.data_bytes, only(&data)) {
        (Some(bytes), _) | (None, Ok(bytes)) => Ok(bytes),
        (None, Err(measured)) => Err(Error::DataMissing { measured }),
    }
}

/// The mean size if all are the same; otherwise the smallest and the largest in words.
fn only(sizes: &[u64]) -> Result<u64, String> {
    let smallest = sizes.iter().copied().min().unwrap_or(0);
    let largest = sizes.iter().copied().max().unwrap_or(0);
    if largest as f64 <= smallest as f64 * (1.0 + SAME_SIZE) {
        let sum: f64 = sizes.iter().map(|it| *it as f64).sum();
        return Ok((sum / sizes.len() as f64).round() as u64);
    }
    Err(format!(
        "{} to {}",
        units::bytes(smallest),
        units::bytes(largest)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{execution::Execution, target::parse_target, testing::execution};

    fn found(target: &str, shares: &[f64], data: &[u64]) -> Result<Option<TargetData>, Error> {
        let mut executions: Vec<Execution> = Vec::new();
        for share in shares {
            for data_bytes in data {
                for block in [1, 2] {
                    let memory = Some(MemoryUse {
                        data_bytes: *data_bytes,
                        buffer_pool_bytes: (share * 1e9) as u64,
                    });
                    executions.push(Execution {
                        memory,
                        ..execution(1.0, 4, block)
                    });
                }
            }
        }
        let target = parse_target(target).unwrap();
        target_data(&target, &Cells::of(&executions).unwrap(), 0.0)
    }

    #[test]
    fn what_the_target_does_not_name_is_that_of_the_records() {
        let data = found("cpus=2", &[0.5], &[1_000_000_000]).unwrap().unwrap();
        assert_eq!((data.bytes, data.share), (1_000_000_000, 0.5));
        let data = found("buffer_pool=1G,data=4G", &[0.5], &[1_000_000_000]);
        let data = data.unwrap().unwrap();
        assert_eq!((data.bytes, data.share), (4 << 30, 0.25));
    }

    #[test]
    fn several_sizes_have_to_be_named() {
        let error = found("cpus=2", &[0.25, 0.5], &[1_000_000_000]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--target names no memory, and the records have buffer pools of 238 MiB to 477 MiB"
        );
        let error = found("memory=8G", &[0.5], &[1 << 30, 4 << 30]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--target names no size of the data, and the records have 1.00 GiB to 4.00 GiB"
        );
    }
}
