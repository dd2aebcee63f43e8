//! The CPU of the server's machine: stacked bars by user of the CPU.

use maud::{Markup, html};
use samples::CpuUse;
use units::percent_number;

use super::Charts;
use crate::{
    chart::{
        frame::{Description, Size},
        stack::{Segment, StackChart},
    },
    grid::{Facet, Line},
    page::figures,
    sentences::answer::cpu_in_words,
};

impl Charts<'_> {
    pub(super) fn cpu(&self) -> Markup {
        let mut cells = self.grid.facets.iter().flat_map(Facet::cells);
        let observed: Vec<CpuUse> = cells.by_ref().filter_map(|(_, _, cell)| cell.cpu).collect();
        let blind = observed.iter().any(|cpu| cpu.server.is_none());
        html! {
            section aria-labelledby="cpu" {
                h2 id="cpu" { (if self.grid.uses_servers() { "CPU of the server's machine" } else { "CPU" }) " against " (self.x.name) }
                @if observed.is_empty() {
                    p { strong { (self.grid.cpu_missing) } ": no CPU chart, because no CPU use was measured." }
                } @else {
                    ul.legend { @for (name, class) in self.shown_parts().map(|part| (part.name(), part.class())) {
                        li { svg.swatch viewBox="0 0 14 12" width="14" height="12" aria-hidden="true" {
                            rect class=(class) x="1" y="0" width="12" height="12" {}
                        } (name) }
                    } }
                    @for (index, facet) in self.grid.facets.iter().enumerate() { (self.cpu_figure(index, facet)) }
                    p.note { "100\u{a0}% is all CPUs of the machine: "
                        (if self.grid.uses_servers() { "server + client" } else { "client" })
                        @if self.shown_parts().any(|part| part == CpuPart::Proxy) { " + proxy" }
                        " + rest + iowait + steal + idle add up to 100\u{a0}%; in a run of about a second the sum may be slightly higher because of the system's coarse clock. Client is "
                        (if self.grid.uses_servers() { "dbdyno itself" } else { "dbdyno and fio" })
                        "; rest is all other programs."
                        @if blind && self.grid.uses_servers() { " The server's process was not identified in some runs: its CPU is part of the rest." }
                    }
                }
            }
        }
    }

    fn cpu_figure(&self, index: usize, facet: &Facet) -> Markup {
        let title = self.title("CPU", facet, None);
        html! {
            figure.row {
                @if let Some(name) = facet.name() { figcaption { (name) } }
                div.panels { @for (at, line) in facet.lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
                    div.panel {
                        @if let Some(heading) = self.line_heading(line) { h3 { (heading) } }
                        (self.cpu_chart(&format!("cpu-{index}-{at}"), facet, line))
                    }
                } }
                details {
                    summary { "Numbers" span.hidden { " of: " (title) } }
                    (figures::scrolling(&title, self.cpu_table(facet)))
                }
            }
        }
    }

    fn cpu_chart(&self, id: &str, facet: &Facet, line: &Line) -> Markup {
        let bars: Vec<Option<Vec<Segment>>> = line
            .cells
            .iter()
            .map(|cell| {
                cell.as_ref()
                    .and_then(|cell| cell.cpu)
                    .map(|cpu| cpu_segments(&cpu))
            })
            .collect();
        let said: Vec<String> = (self.x.levels.iter().zip(&line.cells))
            .filter_map(|(level, cell)| {
                let cpu = cell.as_ref()?.cpu.as_ref()?;
                Some(format!("{level}: {}", cpu_in_words(cpu)))
            })
            .collect();
        let chart = StackChart {
            size: Size::SMALL.with_room_for(&self.levels),
            description: Description {
                id,
                title: &self.title("CPU", facet, Some(line)),
                text: &format!("By {}: {}.", self.x.name, said.join("; ")),
            },
            x_name: &self.x.name,
            levels: &self.levels,
            bars,
        };
        chart.draw()
    }

    /// The parts of the CPU that these runs can have.
    fn shown_parts(&self) -> impl Iterator<Item = CpuPart> + use<> {
        let has_servers = self.grid.uses_servers();
        let mut cells = self.grid.facets.iter().flat_map(Facet::cells);
        let has_proxy = cells.any(|(_, _, cell)| cell.cpu.is_some_and(|cpu| cpu.proxy.is_some()));
        CpuPart::ALL.into_iter().filter(move |part| match part {
            CpuPart::Server => has_servers,
            CpuPart::Proxy => has_proxy,
            _ => true,
        })
    }

    fn cpu_table(&self, facet: &Facet) -> Markup {
        html! {
            table {
                thead { tr {
                    (self.place_heads())
                    @for part in self.shown_parts() { th scope="col" { (part.name()) " %" } }
                } }
                tbody { @for (line, x, cell) in facet.cells() { @if let Some(cpu) = &cell.cpu {
                    tr {
                        (self.place_cells(facet, line, x))
                        @for part in self.shown_parts() {
                            td { (part.share(cpu).map_or("–".to_owned(), percent_number)) }
                        }
                    }
                } } }
            }
        }
    }
}

/// A part of the CPU's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CpuPart {
    Server,
    Client,
    Proxy,
    /// All other programs.
    Rest,
    Iowait,
    Steal,
    Idle,
}

impl CpuPart {
    /// All parts, from the bottom of a bar up.
    const ALL: [Self; 7] = [
        Self::Server,
        Self::Client,
        Self::Proxy,
        Self::Rest,
        Self::Iowait,
        Self::Steal,
        Self::Idle,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Proxy => "proxy",
            Self::Rest => "rest",
            Self::Iowait => "iowait",
            Self::Steal => "steal",
            Self::Idle => "idle",
        }
    }

    /// CSS class that fills it.
    fn class(self) -> &'static str {
        match self {
            Self::Server => "cpu-server",
            Self::Client => "cpu-client",
            Self::Proxy => "cpu-proxy",
            Self::Rest => "cpu-rest",
            Self::Iowait => "cpu-iowait",
            Self::Steal => "cpu-steal",
            Self::Idle => "cpu-idle",
        }
    }

    /// Its share of all CPUs; `None` if it was not observed.
    fn share(self, cpu: &CpuUse) -> Option<f64> {
        match self {
            Self::Server => cpu.server,
            Self::Client => cpu.client,
            Self::Proxy => cpu.proxy,
            Self::Rest => Some(cpu.rest),
            Self::Iowait => Some(cpu.iowait),
            Self::Steal => Some(cpu.steal),
            Self::Idle => Some(cpu.idle),
        }
    }
}

/// The observed parts as a bar.
fn cpu_segments(cpu: &CpuUse) -> Vec<Segment> {
    let observed = CpuPart::ALL.into_iter().filter_map(|part| {
        Some(Segment {
            name: part.name(),
            class: part.class(),
            share: part.share(cpu)?,
        })
    });
    observed.collect()
}
