//! The stored procedures: each transaction executed in the server, with one round trip.

use std::collections::BTreeMap;

use protocol::Connection;

use super::notes::texts;

struct Procedure {
    name: &'static str,
    /// The statement that creates it, with `{version}` in its comment.
    text: &'static str,
}

const PROCEDURES: [Procedure; 5] = [
    Procedure {
        name: "dbdyno_tpcc_new_order",
        text: include_str!("procedures/new_order.sql"),
    },
    Procedure {
        name: "dbdyno_tpcc_payment",
        text: include_str!("procedures/payment.sql"),
    },
    Procedure {
        name: "dbdyno_tpcc_order_status",
        text: include_str!("procedures/order_status.sql"),
    },
    Procedure {
        name: "dbdyno_tpcc_delivery",
        text: include_str!("procedures/delivery.sql"),
    },
    Procedure {
        name: "dbdyno_tpcc_stock_level",
        text: include_str!("procedures/stock_level.sql"),
    },
];

impl Procedure {
    /// The version in its comment, which changes with the text.
    fn version(&self) -> String {
        format!("dbdyno {:08x}", crc32fast::hash(self.text.as_bytes()))
    }
}

/// Creates the procedures of `RoundTrips::Stored` in the current database, where they are missing or have another
/// version; returns the number created.
pub async fn create_procedures(connection: &mut Connection) -> Result<usize, protocol::Error> {
    let there = "select routine_name, routine_comment from information_schema.routines \
                 where routine_schema = database() and routine_type = 'PROCEDURE'";
    let rows = texts(connection, there).await?;
    let there: BTreeMap<String, String> = rows
        .into_iter()
        .filter_map(|row| Some((row.first()?.clone(), row.get(1)?.clone())))
        .collect();
    let mut created = 0;
    for procedure in &PROCEDURES {
        let version = procedure.version();
        if there.get(procedure.name) == Some(&version) {
            continue;
        }
        connection.query(drop_sql(procedure).as_bytes()).await?;
        let sql = procedure.text.replace("{version}", &version);
        connection.query(sql.as_bytes()).await?;
        created += 1;
    }
    Ok(created)
}

pub(super) fn drop_procedures() -> Vec<String> {
    PROCEDURES.iter().map(drop_sql).collect()
}

fn drop_sql(procedure: &Procedure) -> String {
    format!("drop procedure if exists {}", procedure.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::statement::CALLS;

    #[test]
    fn every_procedure_is_called_with_its_parameters() {
        for (procedure, call) in PROCEDURES.iter().zip(&CALLS) {
            let text = procedure.text;
            assert!(
                text.contains("\ncomment '{version}'\n"),
                "{}",
                procedure.name
            );
            let header = format!("create procedure {} (", procedure.name);
            let list = text.strip_prefix(&header).unwrap_or_default();
            // The types may contain a comma, followed by a digit.
            let list = list.split("\nmodifies").next().unwrap_or_default();
            let list = list.split("\nreads").next().unwrap_or_default();
            let parameters = list.matches(", ").count() + list.matches(",\n").count() + 1
                - list.matches(", 2)").count();
            let marks = call.text.matches('?').count();
            assert_eq!(parameters, marks, "{}", procedure.name);
            assert!(call.text.contains(&format!("call {}(", procedure.name)));
        }
    }

    #[test]
    fn another_text_is_another_version() {
        let versions: std::collections::BTreeSet<String> =
            PROCEDURES.iter().map(Procedure::version).collect();
        assert_eq!(versions.len(), PROCEDURES.len());
    }
}
