//! Errors with which a server refuses a connection for lack of room.

pub fn hint_to_refusal(number: u16) -> Option<String> {
    let limit = match number {
        1040 => "raise max_connections",
        1203 => "raise max_user_connections",
        1226 => {
            "raise the account's limit (ALTER USER ... WITH MAX_USER_CONNECTIONS), or max_user_connections"
        }
        _ => return None,
    };
    Some(format!("{limit}, or use fewer connections"))
}
