//! A response: content or a refusal, with headers that let no page elsewhere use it.

use crate::{
    content::{Content, Kind},
    request::Request,
};

/// Scripts and frames only from this server, nothing from elsewhere, and no page elsewhere frames it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; \
                      frame-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'";

pub(crate) struct Response {
    status: u16,
    media_type: &'static str,
    refresh_s: Option<u32>,
    body: std::sync::Arc<str>,
    has_body: bool,
}

impl Response {
    /// Content as a request wants it.
    pub(crate) fn of(content: Content, request: &Request) -> Self {
        let (status, media_type) = match content.kind {
            Kind::Html => (200, "text/html; charset=utf-8"),
            Kind::Script => (200, "text/javascript; charset=utf-8"),
            Kind::Json => (200, "application/json"),
            Kind::Text => (200, "text/plain; charset=utf-8"),
            Kind::Metrics if request.takes_openmetrics => (
                200,
                "application/openmetrics-text; version=1.0.0; charset=utf-8",
            ),
            Kind::Metrics => (200, "text/plain; version=0.0.4; charset=utf-8"),
            Kind::Unavailable => (503, "text/plain; charset=utf-8"),
        };
        Self {
            status,
            media_type,
            refresh_s: content.refresh_s,
            body: content.body,
            has_body: !request.is_head,
        }
    }

    /// A refusal, in words.
    pub(crate) fn refusal(status: u16) -> Self {
        Self {
            status,
            media_type: "text/plain; charset=utf-8",
            refresh_s: None,
            body: format!("{status} {}\n", explained(status)).into(),
            has_body: true,
        }
    }

    /// The same without a body where the request wants none.
    pub(crate) fn for_request(self, request: &Request) -> Self {
        Self {
            has_body: !request.is_head,
            ..self
        }
    }

    /// As it is sent.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
             Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n",
            self.status,
            reason(self.status),
            self.media_type,
            self.body.len(),
        );
        if self.status == 405 {
            head.push_str("Allow: GET, HEAD\r\n");
        }
        if let Some(refresh_s) = self.refresh_s {
            head.push_str(&format!("Refresh: {refresh_s}\r\n"));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        if self.has_body {
            bytes.extend_from_slice(self.body.as_bytes());
        }
        bytes
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}

fn explained(status: u16) -> &'static str {
    match status {
        404 => "not found: / is the page, /metrics is for Prometheus",
        405 => "this server is read-only: only GET and HEAD are allowed",
        421 => "the Host header of this request does not name this server",
        431 => "the header of this request is too long",
        505 => "this server speaks HTTP/1.1",
        _ => "this is not an HTTP request with exactly one Host header",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_request_gets_the_length_and_no_body() {
        let request = Request {
            is_read: true,
            is_head: true,
            path: "/".to_owned(),
            host: "localhost".to_owned(),
            takes_openmetrics: false,
        };
        let response = Response::of(Content::refreshed("<p>".to_owned(), 2), &request);
        let text = String::from_utf8(response.bytes()).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.contains("Content-Length: 3\r\n"), "{text}");
        assert!(text.contains("Refresh: 2\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\n"), "{text}");
    }
}
