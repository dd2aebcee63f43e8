//! Properties of a machine that changed during a run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::Host;

/// A property of a machine that changed during the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    pub host: Host,
    /// The property, for example `write cache of sda`.
    pub what: Property,
    /// Value at the start.
    pub from: String,
    /// Value at the end.
    pub to: String,
}

/// A property that can change during a run. A record has its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Property {
    /// A property of the machine or of a control group, for example `CPU governor`.
    Machine(String),
    /// A property of a block device: `write cache of sda`.
    Disk(DiskProperty, String),
}

/// A property of a block device that can change while the device is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiskProperty {
    WriteCache,
    Scheduler,
    ReadAhead,
}

impl DiskProperty {
    const ALL: [Self; 3] = [Self::WriteCache, Self::Scheduler, Self::ReadAhead];

    /// The beginning of its text; the name of the device follows.
    fn words(self) -> &'static str {
        match self {
            Self::WriteCache => "write cache of ",
            Self::Scheduler => "scheduler of ",
            Self::ReadAhead => "read-ahead of ",
        }
    }
}

impl Default for Property {
    fn default() -> Self {
        Self::Machine(String::new())
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine(name) => f.write_str(name),
            Self::Disk(property, device) => write!(f, "{}{device}", property.words()),
        }
    }
}

impl From<String> for Property {
    fn from(text: String) -> Self {
        let mut of_disks = DiskProperty::ALL.into_iter();
        let of_disk = of_disks.find_map(|property| {
            let device = text.strip_prefix(property.words())?;
            Some(Self::Disk(property, device.to_owned()))
        });
        of_disk.unwrap_or(Self::Machine(text))
    }
}

impl From<Property> for String {
    fn from(property: Property) -> Self {
        property.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_is_its_text_in_the_record() {
        for (text, property) in [
            ("CPU governor", Property::Machine("CPU governor".to_owned())),
            (
                "write cache of sda",
                Property::Disk(DiskProperty::WriteCache, "sda".to_owned()),
            ),
            (
                "scheduler of nvme0n1",
                Property::Disk(DiskProperty::Scheduler, "nvme0n1".to_owned()),
            ),
            (
                "read-ahead of dm-0",
                Property::Disk(DiskProperty::ReadAhead, "dm-0".to_owned()),
            ),
        ] {
            let line = format!(r#"{{"host":"both","what":"{text}","from":"1","to":"2"}}"#);
            let changed: Changed = serde_json::from_str(&line).unwrap();
            assert_eq!(changed.what, property);
            assert_eq!(serde_json::to_string(&changed).unwrap(), line);
        }
    }
}
