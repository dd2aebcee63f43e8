//! Executes a statement again and again and adds up its rows, for bench/sql/run.sh, which measures the CPU of that.

use std::{env, error::Error, fs, path::PathBuf, time::Duration};

use protocol::{Address, Connection, Endpoint, Password};

/// Time limit of the login.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [socket, user, password_file, times, sql] = arguments.as_slice() else {
        return Err("usage: checksum_rows SOCKET USER PASSWORD_FILE TIMES STATEMENT".into());
    };
    let times: u32 = times.parse()?;
    let password = fs::read_to_string(password_file)?;
    let address = Address::Unix(PathBuf::from(socket));
    let endpoint = Endpoint {
        password: Some(Password::from(password.trim_end())),
        ..Endpoint::plain(address, user, CONNECT_TIMEOUT)
    };
    reactor::block_on(async {
        let mut connection = Connection::open(&endpoint).await?;
        for _ in 0..times {
            connection.checksum(sql.as_bytes()).await?;
        }
        connection.close().await
    })??;
    Ok(())
}
