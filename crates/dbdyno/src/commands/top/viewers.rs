//! `top --serve`: browsers and Prometheus are answered by the loop that has the model, when they ask.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use blame::Blamed;
use top::{BrowserView, Model, Playback};

use crate::serve::{Content, Door, Kind, Site, metrics, panel_page};

/// How long the loop may take: it looks for requests each 100 ms.
const PATIENCE: Duration = Duration::from_secs(2);

/// A request, and where its answer goes.
struct Request {
    path: String,
    answer: Sender<Option<Content>>,
}

/// Those who look on from a browser.
pub(super) struct Viewers {
    requests: Receiver<Request>,
}

/// What the server's thread has of it.
struct Asking {
    requests: Sender<Request>,
}

impl Viewers {
    /// Serves at an address as the user wrote it.
    pub(super) fn welcome(wanted: &str) -> Result<Self, Blamed> {
        let (requests, received) = channel();
        Door::open("--serve", wanted)?.serve(move || Asking { requests })?;
        Ok(Self { requests: received })
    }

    /// Answers those who have asked since the last time.
    pub(super) fn answer(
        &self,
        model: &Model,
        playback: &Playback,
        every: Duration,
        silence: Option<Duration>,
    ) {
        let view = BrowserView {
            playback,
            every,
            silence,
            status: &[],
        };
        for request in self.requests.try_iter() {
            let content = match request.path.as_str() {
                "/metrics" => Some(metrics("", Some(model))),
                "/" => panel_page("/now", model, &view),
                path => panel_page(path, model, &view),
            };
            // A viewer that waits no longer needs no answer.
            let _ = request.answer.send(content);
        }
    }
}

impl Site for Asking {
    fn at(&mut self, path: &str) -> Option<Content> {
        let (answer, answered) = channel();
        let request = Request {
            path: path.to_owned(),
            answer,
        };
        let sent = self.requests.send(request);
        let answered = sent
            .ok()
            .and_then(|()| answered.recv_timeout(PATIENCE).ok());
        answered.unwrap_or_else(|| {
            let why = "dbdyno top is busy or ending\n";
            Some(Content::new(Kind::Unavailable, why))
        })
    }
}
