//! The machine of the server: CPUs, memory, disks, network.

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
};

use super::{blocks, figures, listing::Listing, scene::Scene};
use crate::figure::{bytes, duration, number, percent};

pub(super) fn draw(scene: Scene<'_>, area: Rect, buffer: &mut Buffer) {
    let groups = vec![
        figures::cpu(scene),
        figures::memory(scene),
        figures::scheduling(scene),
        figures::traffic(scene),
    ];
    let palette = scene.screen.palette;
    let left = blocks::draw(groups, palette, area, buffer);
    let (disks, interfaces) = (disks(scene), interfaces(scene));
    let rows = disks.rows.len() as u16;
    let [_, upper, lower] = Layout::vertical([
        Constraint::Length(u16::from(left.height > 0)),
        Constraint::Max(rows.saturating_add(3)),
        Constraint::Min(0),
    ])
    .areas(left);
    disks.draw(0, palette, upper, buffer);
    interfaces.draw(0, palette, lower, buffer);
}

fn disks(scene: Scene<'_>) -> Listing {
    let machine = scene.model.machine().at(scene.at_s);
    let disks = machine.map_or(&[][..], |machine| &machine.disks);
    let rows = disks.iter().map(|disk| {
        let figures = vec![
            percent(disk.busy),
            number(Some(disk.reads_per_s)),
            number(Some(disk.writes_per_s)),
            bytes(Some(disk.read_bytes_per_s)),
            bytes(Some(disk.written_bytes_per_s)),
            duration(disk.read_wait_ns),
            duration(disk.write_wait_ns),
            number(disk.queue),
            number(disk.flushes_per_s),
        ];
        (figures, disk.device.clone())
    });
    let rows: Vec<_> = rows.collect();
    let nothing = rows.is_empty().then(|| match machine {
        Some(_) => "no disk activity".to_owned(),
        None => "not observed at this time".to_owned(),
    });
    Listing {
        title: "Disks".to_owned(),
        columns: vec![
            ("busy %", 6),
            ("reads/s", 8),
            ("writes/s", 8),
            ("read/s", 9),
            ("written/s", 9),
            ("r_wait", 8),
            ("w_wait", 8),
            ("queue", 6),
            ("flushes/s", 9),
        ],
        words_from: usize::MAX,
        text: "device",
        rows,
        note: nothing,
    }
}

fn interfaces(scene: Scene<'_>) -> Listing {
    let machine = scene.model.machine().at(scene.at_s);
    let interfaces = machine.map_or(&[][..], |machine| &machine.interfaces);
    let rows = interfaces.iter().map(|it| {
        let figures = vec![
            bytes(Some(it.received_bytes_per_s)),
            bytes(Some(it.sent_bytes_per_s)),
            number(Some(it.packets_per_s)),
            number(Some(it.bad_packets_per_s)),
        ];
        (figures, it.interface.clone())
    });
    let rows: Vec<_> = rows.collect();
    let nothing = rows.is_empty().then(|| "no network activity".to_owned());
    Listing {
        title: "Network".to_owned(),
        columns: vec![
            ("received/s", 10),
            ("sent/s", 9),
            ("packets/s", 9),
            ("bad/s", 6),
        ],
        words_from: usize::MAX,
        text: "interface",
        rows,
        note: nothing,
    }
}
