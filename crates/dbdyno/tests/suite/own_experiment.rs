//! A small experiment over data of the user's own, with a script as its load.

/// Its text: keys of `[server]` and `[data]`; the load is the script `load.sql`, whose clients think between statements.
pub(crate) fn experiment(server: &str, data: &str) -> String {
    format!(
        "format = 1\nquestion = \"Is it there?\"\n[server]\n{server}\n[data]\n{data}\n\
         [load]\nscript = \"load.sql\"\nconnections = 2\nthink_time = \"20ms\"\nwarmup = \"100ms\"\nduration = \"2s\"\n\
         [disturbed]\nrepeats = \"0 %\"\n"
    )
}
