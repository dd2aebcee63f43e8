//! One combination of server, way to reach it, kind of statement and number of connections.

use std::fmt;

/// What answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answerer {
    /// dbdyno's null server, alone on its processor; the client is alone on another one.
    NullServer,
    /// A real MariaDB; both move freely over all processors.
    MariaDb,
}

/// How the server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Unix,
    Tcp,
}

/// How a statement is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statement {
    Prepared,
    Text,
}

/// One combination; all tools are measured in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) answerer: Answerer,
    pub(crate) transport: Transport,
    pub(crate) statement: Statement,
    pub(crate) connections: u32,
}

impl Cell {
    /// All combinations of a server, those of fewer connections first.
    pub(crate) fn all(answerer: Answerer) -> Vec<Self> {
        let mut cells = Vec::new();
        for statement in [Statement::Prepared, Statement::Text] {
            for transport in [Transport::Unix, Transport::Tcp] {
                for connections in [1, 8, 64, 512] {
                    cells.push(Self {
                        answerer,
                        transport,
                        statement,
                        connections,
                    });
                }
            }
        }
        cells
    }

    /// True where a target is set; the other cells are context, and get fewer rounds.
    pub(crate) fn has_target(&self) -> bool {
        if self.statement == Statement::Text {
            return false;
        }
        match self.answerer {
            Answerer::NullServer => self.connections >= 64,
            Answerer::MariaDb => self.transport == Transport::Unix && self.connections <= 64,
        }
    }

    /// How long a run is measured, in seconds: with many connections a run needs more queries, because each of
    /// sysbench's threads compiles its own script.
    pub(crate) fn measured_s(&self) -> f64 {
        match (self.answerer, self.connections) {
            (_, 512) => 1.2,
            (Answerer::NullServer, _) => 0.6,
            (Answerer::MariaDb, _) => 0.8,
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let transport = match self.transport {
            Transport::Unix => "unix socket",
            Transport::Tcp => "TCP",
        };
        let statement = match self.statement {
            Statement::Prepared => "prepared",
            Statement::Text => "text",
        };
        write!(out, "{transport}, {statement}, {}", self.connections)
    }
}
