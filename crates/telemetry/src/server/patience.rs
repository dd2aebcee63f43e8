//! How long an answer of the server is waited for.

use std::{future::Future, io, time::Duration};

use protocol::Error;

/// A server that takes longer to answer one reading is not asked any more.
const PATIENCE: Duration = Duration::from_secs(10);

/// The result of `future`, or why there is none in time.
pub(crate) async fn in_time<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match reactor::timeout(PATIENCE, future).await {
        Ok(result) => result,
        Err(_) => Err(Error::Lost {
            during: "asking for the status",
            source: io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no answer in {PATIENCE:?}"),
            ),
        }),
    }
}
