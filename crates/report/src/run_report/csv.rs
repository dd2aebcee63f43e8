//! The report of one run as comma-separated values.

use std::fmt::Write;

use crate::tables::table_sizes::quoted;

use super::{Classes, RunReport, Times};

impl RunReport {
    /// The report as CSV with a header: one line for the operations, one for each kind of statement. A percentile with
    /// no operation beyond it is empty.
    ///
    /// ```text
    /// kind,name,count,per_s,reads,writes,others,min_ms,mean_ms,max_ms,p95_ms
    /// operation,oltp read_write,85,40.525,1190,340,170,1.250,29.880,260.020,158.630
    /// ```
    pub fn csv(&self) -> String {
        let mut out =
            String::from("kind,name,count,per_s,reads,writes,others,min_ms,mean_ms,max_ms");
        for value in &self.response.percentiles {
            write!(out, ",p{}_ms", value.percentile).expect(INFALLIBLE);
        }
        out.push('\n');
        let classes = self.classes;
        self.csv_row("operation", &self.name, classes, &self.response, &mut out);
        if let Some(service) = &self.service {
            self.csv_row("service", &self.name, classes, service, &mut out);
        }
        if let Some(lag) = &self.send_lag {
            self.csv_row("send lag", &self.name, classes, lag, &mut out);
        }
        for statement in &self.statements {
            self.csv_row(
                "statement",
                &statement.name,
                statement.classes,
                &statement.times,
                &mut out,
            );
        }
        out
    }

    fn csv_row(
        &self,
        kind: &str,
        name: &str,
        classes: Classes<u64>,
        times: &Times,
        out: &mut String,
    ) {
        write!(
            out,
            "{kind},{},{},{:.3},{},{},{},{:.3},{:.3},{:.3}",
            quoted(name),
            times.count,
            times.per_s,
            classes.read,
            classes.write,
            classes.other,
            times.min_ms,
            times.mean_ms,
            times.max_ms
        )
        .expect(INFALLIBLE);
        for value in &times.percentiles {
            let ms = value.ms.map_or(String::new(), |ms| format!("{ms:.3}"));
            write!(out, ",{ms}").expect(INFALLIBLE);
        }
        out.push('\n');
    }
}

const INFALLIBLE: &str = "writing to a string does not fail";
