//! Viewers of the loop that has the model: it answers browsers and Prometheus when they ask.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use top::{BrowserView, Model, Playback};
use web::{Content, Kind, Site};

use crate::pages::{metrics, panel_page};

/// How long the loop may take: it looks for requests each 100 ms.
const PATIENCE: Duration = Duration::from_secs(2);

/// A request, and where its answer goes.
struct Request {
    path: String,
    answer: Sender<Option<Content>>,
}

/// Those who look on from a browser.
pub struct Viewers {
    requests: Receiver<Request>,
}

/// What the server's thread has of them.
pub struct ViewerSite {
    requests: Sender<Request>,
}

impl Viewers {
    /// Those who look at this site, for the server that shows it.
    pub fn of_a_site() -> (Self, ViewerSite) {
        let (sender, requests) = channel();
        (Self { requests }, ViewerSite { requests: sender })
    }

    /// Answers those who have asked since the last time.
    pub fn answer(
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

impl Site for ViewerSite {
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
