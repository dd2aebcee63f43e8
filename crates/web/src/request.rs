//! What of a request counts: whether it only reads, where, and whom it calls.

pub(crate) const HEAD_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// GET or HEAD.
    pub(crate) is_read: bool,
    /// HEAD: the response has no body.
    pub(crate) is_head: bool,
    /// Without what follows a question mark.
    pub(crate) path: String,
    /// The header `Host`.
    pub(crate) host: String,
    /// It says that it reads OpenMetrics.
    pub(crate) takes_openmetrics: bool,
}

impl Request {
    /// Reads the whole head of a request; an error is the status of the refusal.
    pub(crate) fn parse(head: &[u8]) -> Result<Self, u16> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(head) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) => return Err(400),
            Err(httparse::Error::TooManyHeaders) => return Err(431),
            Err(httparse::Error::Version) => return Err(505),
            Err(_) => return Err(400),
        }
        let method = request.method.ok_or(400u16)?;
        let target = request.path.ok_or(400u16)?;
        let path = target.split(['?', '#']).next().unwrap_or_default();
        if !path.starts_with('/') {
            return Err(400);
        }
        let text = |value: &[u8]| String::from_utf8(value.to_vec()).map_err(|_| 400u16);
        let valued = |name: &str| {
            let headers = request.headers.iter();
            headers
                .filter(|header| header.name.eq_ignore_ascii_case(name))
                .map(|header| text(header.value))
                .collect::<Result<Vec<_>, u16>>()
        };
        // Of two hosts another program on the way may have believed the other one.
        let [host] = <[String; 1]>::try_from(valued("host")?).map_err(|_| 400u16)?;
        let takes_openmetrics = valued("accept")?
            .iter()
            .any(|accept| accept.contains("application/openmetrics-text"));
        Ok(Self {
            is_read: matches!(method, "GET" | "HEAD"),
            is_head: method == "HEAD",
            path: path.to_owned(),
            host,
            takes_openmetrics,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read() {
        let head = b"GET /now/waits?x=1 HTTP/1.1\r\nhost: localhost:1\r\nAccept: application/openmetrics-text;q=1\r\n\r\n";
        let expected = Request {
            is_read: true,
            is_head: false,
            path: "/now/waits".to_owned(),
            host: "localhost:1".to_owned(),
            takes_openmetrics: true,
        };
        assert_eq!(Request::parse(head), Ok(expected));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let many: String = (0..100).map(|it| format!("h{it}: 1\r\n")).collect();
        for (head, status) in [
            ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".to_owned(),
                400,
            ),
            ("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 400),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n".to_owned(), 505),
            ("\u{16}\u{3}\u{1} garbage\r\n\r\n".to_owned(), 400),
            (format!("GET / HTTP/1.1\r\n{many}\r\n"), 431),
        ] {
            assert_eq!(Request::parse(head.as_bytes()), Err(status), "{head}");
        }
    }

    #[test]
    fn what_does_not_read_is_known() {
        let is_read = |method: &str| {
            let head = format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n");
            Request::parse(head.as_bytes()).unwrap().is_read
        };
        for (method, expected) in [
            ("GET", true),
            ("HEAD", true),
            ("POST", false),
            ("get", false),
        ] {
            assert_eq!(is_read(method), expected, "{method}");
        }
    }
}
