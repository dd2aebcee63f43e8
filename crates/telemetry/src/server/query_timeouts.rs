//! Time limits for the server's answers.

use std::{future::Future, io, pin::pin, time::Duration};

use protocol::Error;
use reactor::Interrupt;

/// Time limit for one reading; a slower server is not queried again.
const PATIENCE: Duration = Duration::from_secs(10);

/// The same after an interruption of the run.
const PATIENCE_INTERRUPTED: Duration = Duration::from_millis(500);

/// The result of `future`, or an error after the time limit.
pub(crate) async fn in_time<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    match reactor::timeout(PATIENCE, future).await {
        Ok(result) => result,
        Err(_) => Err(silent(PATIENCE)),
    }
}

/// The same; the shorter limit applies from the interruption on.
pub(crate) async fn in_time_or_interrupted<T>(
    interrupt: &Interrupt,
    future: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let mut future = pin!(future);
    let end = reactor::now() + PATIENCE;
    let answered = interrupt.unless_raised(future.as_mut());
    match reactor::timeout(PATIENCE, answered).await {
        Ok(Some(result)) => result,
        Ok(None) => {
            let left = (end - reactor::now()).min(PATIENCE_INTERRUPTED);
            let ended = reactor::timeout(left, future.as_mut()).await;
            ended.unwrap_or_else(|_| Err(silent(PATIENCE_INTERRUPTED)))
        }
        Err(_) => Err(silent(PATIENCE)),
    }
}

fn silent(patience: Duration) -> Error {
    Error::Lost {
        during: "asking for the status",
        source: io::Error::new(
            io::ErrorKind::TimedOut,
            format!("no answer in {patience:?}"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use reactor::{Clock, Reactor, now, sleep};

    use super::*;

    #[test]
    fn a_silent_server_is_waited_for_less_once_the_run_is_interrupted() {
        for (is_interrupted, answers_after_ms, expected_ms) in [
            (false, 9_000, Ok(9_000)),
            (false, 11_000, Err(10_000)),
            (true, 300, Ok(300)),
            (true, 9_000, Err(500)),
        ] {
            let interrupt = Interrupt::default();
            if is_interrupted {
                interrupt.raise();
            }
            let took = Reactor::new(Clock::Driven).unwrap().run(async {
                let begin = now();
                let answer = async {
                    sleep(Duration::from_millis(answers_after_ms)).await;
                    Ok(())
                };
                let result = in_time_or_interrupted(&interrupt, answer).await;
                let took = (now() - begin).as_millis() as u64;
                result.map(|()| took).map_err(|_| took)
            });
            assert_eq!(took, expected_ms, "{is_interrupted} {answers_after_ms}");
        }
    }
}
