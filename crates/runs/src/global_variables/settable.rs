//! The variables that an experiment sets on an existing server, and the obstacles to that.

use std::collections::BTreeMap;

use blame::{Blame, Blamed};
use experiment::ServerSpec;
use mycnf::target_of_variables;
use protocol::Address;

/// The variables that are set before each turn of a run on this server, as the server spells their names.
pub(super) fn wanted(server: &ServerSpec) -> BTreeMap<String, String> {
    let options = server.set_by_turns().into_iter();
    let plain = |option: String| option.replace('-', "_").to_ascii_lowercase();
    options
        .map(|(option, value)| (plain(option), value))
        .collect()
}

/// An error for a variable that the server at this address does not have, or that no slice can measure.
pub(crate) fn check(
    server: &ServerSpec,
    address: &Address,
    variables: &BTreeMap<String, String>,
) -> Result<(), Blamed> {
    let catalogue = target_of_variables(variables).map(|target| target.catalogue());
    for name in wanted(server).keys() {
        let obstacle = if variables.contains_key(name) {
            let known = catalogue.as_ref();
            known.and_then(|catalogue| catalogue.obstacle_to_set_global(name))
        } else {
            Some("the server has no global variable of this name")
        };
        if let Some(why) = obstacle {
            let message =
                format!("{name} cannot be compared by SET GLOBAL on the server {address}: {why}");
            let hint = "compare its values on private servers, without `address` and `on_this_server` \
                        (ab: without --host and --on-this-server)";
            return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
        }
    }
    Ok(())
}
