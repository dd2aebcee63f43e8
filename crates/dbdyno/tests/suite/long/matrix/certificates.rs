//! A certificate authority and a certificate for `127.0.0.1`, with RSA keys because the oldest servers need them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The files of one authority, in a directory of the test.
pub(crate) struct Certificates {
    directory: PathBuf,
}

impl Certificates {
    /// Creates them with the `openssl` program; `None` if it is not installed.
    pub(crate) fn make(directory: &Path) -> Option<Self> {
        fs::create_dir(directory).unwrap();
        fs::write(
            directory.join("server.ext"),
            "subjectAltName = IP:127.0.0.1\nbasicConstraints = CA:FALSE\n",
        )
        .unwrap();
        let steps = [
            "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=matrix -keyout ca.key -out ca.pem",
            "req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout key.pem -out server.csr",
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -set_serial 2 -days 30 \
             -extfile server.ext -out cert.pem",
            // The only format that MySQL 5 reads.
            "rsa -in key.pem -traditional -out key.pem",
        ];
        for step in steps {
            let status = Command::new("openssl")
                .args(step.split_whitespace())
                .current_dir(directory)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            match status {
                Ok(status) => assert!(status.success(), "openssl {step}"),
                Err(_) => return None,
            }
        }
        Some(Self {
            directory: directory.to_owned(),
        })
    }

    /// Path of the authority's certificate.
    pub(crate) fn authority(&self) -> PathBuf {
        self.directory.join("ca.pem")
    }

    /// The server's options with their paths.
    pub(crate) fn options(&self) -> [(String, String); 3] {
        [
            ("ssl_ca", "ca.pem"),
            ("ssl_cert", "cert.pem"),
            ("ssl_key", "key.pem"),
        ]
        .map(|(option, file)| {
            let path = self.directory.join(file);
            (option.to_owned(), path.to_str().unwrap().to_owned())
        })
    }
}
