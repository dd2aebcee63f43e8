//! Memory of the machine, and the traffic between it and the disks.

use procfs_core::{FromRead, Meminfo, VmStat};
use samples::{Memory, Paging};

use crate::{
    error::NotObserved,
    kernel::{Kernel, difference, difference_of},
};

pub(crate) fn memory(kernel: &Kernel) -> Result<Memory, NotObserved> {
    let memory = Meminfo::from_file(kernel.path("proc/meminfo")).map_err(NotObserved::Memory)?;
    Ok(Memory {
        total_bytes: memory.mem_total,
        available_bytes: memory.mem_available.ok_or(NotObserved::MemoryAvailable)?,
        swap_used_bytes: memory.swap_total.saturating_sub(memory.swap_free),
        free_bytes: Some(memory.mem_free),
        cached_bytes: Some(memory.cached),
        buffers_bytes: Some(memory.buffers),
        dirty_bytes: Some(memory.dirty),
        writeback_bytes: Some(memory.writeback),
    })
}

/// Physical memory, bytes; 0 where it cannot be read.
pub(crate) fn physical_bytes(kernel: &Kernel) -> u64 {
    Meminfo::from_file(kernel.path("proc/meminfo")).map_or(0, |memory| memory.mem_total)
}

/// The counters of /proc/vmstat since the machine started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PagingCounters {
    page_bytes: u64,
    in_kib: u64,
    out_kib: u64,
    swapped_in_pages: u64,
    swapped_out_pages: u64,
    faults: u64,
    major_faults: u64,
    oom_kills: Option<u64>,
}

impl PagingCounters {
    pub(crate) fn read(kernel: &Kernel) -> Result<Self, NotObserved> {
        let VmStat(counts) = VmStat::from_file(kernel.path("proc/vmstat"))
            .map_err(|source| NotObserved::counters("paging and swapping", source))?;
        let count = |name: &str| {
            counts
                .get(name)
                .and_then(|count| u64::try_from(*count).ok())
        };
        let needed = |name| count(name).ok_or(NotObserved::PagingCounter { name });
        Ok(Self {
            page_bytes: kernel.page_bytes,
            // In KiB whatever the page size, unlike the swap counters.
            in_kib: needed("pgpgin")?,
            out_kib: needed("pgpgout")?,
            swapped_in_pages: needed("pswpin")?,
            swapped_out_pages: needed("pswpout")?,
            faults: needed("pgfault")?,
            major_faults: needed("pgmajfault")?,
            oom_kills: count("oom_kill"),
        })
    }

    pub(crate) fn since(&self, earlier: &Self) -> Paging {
        let kib = |now, before| difference(now, before) * 1024;
        let pages = |now, before| difference(now, before) * self.page_bytes;
        Paging {
            in_bytes: kib(self.in_kib, earlier.in_kib),
            out_bytes: kib(self.out_kib, earlier.out_kib),
            swapped_in_bytes: pages(self.swapped_in_pages, earlier.swapped_in_pages),
            swapped_out_bytes: pages(self.swapped_out_pages, earlier.swapped_out_pages),
            faults: difference(self.faults, earlier.faults),
            major_faults: difference(self.major_faults, earlier.major_faults),
            oom_kills: difference_of(self.oom_kills, earlier.oom_kills),
        }
    }
}
