//! Where the control groups of disks are, and where dbdyno's own can be made.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::obstacle::{Obstacle, refused};

/// The interface of the kernel's control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CgroupVersion {
    /// One tree for each controller; `blkio` limits requests, but not what the kernel writes back from the page cache.
    V1,
    /// One tree; `io` limits write-back, too, on file systems that support it.
    V2,
}

/// The tree that limits disks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    pub(super) version: CgroupVersion,
    /// The directory below which a group is made.
    pub(super) parent: PathBuf,
    /// The group of this process.
    pub(super) own: PathBuf,
}

impl Hierarchy {
    /// The tree of this machine.
    pub(super) fn find() -> Result<Self, Obstacle> {
        let read = |path: &str| {
            fs::read_to_string(path).map_err(|error| refused("read", Path::new(path), &error))
        };
        Self::of(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?)
    }

    /// A controller belongs to one version only: `blkio` of version 1 where it is mounted, or `io` of version 2.
    fn of(mounts: &str, groups: &str) -> Result<Self, Obstacle> {
        let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
        let mut ones = mounts.iter();
        if let Some(mount) = ones.find(|it| it.kind == "cgroup" && has(it.options, ',', "blkio")) {
            let own = mount.group(groups, |controllers| has(controllers, ',', "blkio"));
            return Ok(Self {
                version: CgroupVersion::V1,
                parent: own.clone(),
                own,
            });
        }
        let Some(mount) = mounts.iter().find(|it| it.kind == "cgroup2") else {
            return Err(Obstacle {
                why: "no control groups are mounted".to_owned(),
                hint: "mount them: mount -t cgroup2 none /sys/fs/cgroup",
            });
        };
        let own = mount.group(groups, str::is_empty);
        let top = Path::new(mount.point);
        let listed = |group: &Path, file: &str| {
            let text = fs::read_to_string(group.join(file)).unwrap_or_default();
            text.split_whitespace().any(|it| it == "io")
        };
        if !listed(top, "cgroup.controllers") {
            return Err(Obstacle {
                why: format!("{} has no controller io", top.display()),
                hint: "a kernel with CONFIG_BLK_CGROUP and CONFIG_BLK_DEV_THROTTLING has it, unless blkio of version 1 \
                       is in use",
            });
        }
        // The nearest group whose children have the controller: groups of others are not changed.
        let mut groups = own.ancestors().take_while(|it| it.starts_with(top));
        match groups.find(|it| listed(it, "cgroup.subtree_control")) {
            Some(parent) => Ok(Self {
                version: CgroupVersion::V2,
                parent: parent.to_owned(),
                own: own.clone(),
            }),
            None => Err(Obstacle {
                why: format!("the controller io is not enabled in {}", top.display()),
                hint: "enable it as root: echo +io > /sys/fs/cgroup/cgroup.subtree_control",
            }),
        }
    }
}

/// A mounted file system. Source: proc_pid_mountinfo(5).
struct Mount<'a> {
    /// The directory of the file system that is mounted.
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    /// Those of the file system.
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (mount, system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let mut system = system.split(' ');
        Some(Self {
            root: mount.next()?,
            point: mount.next()?,
            kind: system.next()?,
            options: system.nth(1)?,
        })
    }

    /// The directory of this process's group, by the controllers of its line; the top where it is outside of the mount.
    fn group(&self, groups: &str, is_ours: impl Fn(&str) -> bool) -> PathBuf {
        let lines = groups.lines().filter_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            Some((fields.next()?, fields.next()?))
        });
        let mut ours = lines.filter(|(controllers, _)| is_ours(controllers));
        let path = ours.next().map_or("/", |(_, path)| path);
        let below = Path::new(path).strip_prefix(self.root);
        let path = Path::new(self.point).join(below.unwrap_or(Path::new("")));
        // A trailing slash would be another path in a message.
        path.components().collect()
    }
}

fn has(list: &str, separator: char, word: &str) -> bool {
    list.split(separator).any(|it| it == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blkio_of_version_1_goes_first() {
        let mounts = "31 26 0:20 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                      32 26 0:21 / /sys/fs/cgroup/blkio rw,relatime shared:9 - cgroup cgroup rw,blkio\n";
        let found = Hierarchy::of(mounts, "7:blkio:/user\n0::/\n").ok().unwrap();
        assert_eq!(found.version, CgroupVersion::V1);
        assert_eq!(found.parent, Path::new("/sys/fs/cgroup/blkio/user"));
        let inside = mounts.replace("0:21 / ", "0:21 /docker/1 ");
        let found = Hierarchy::of(&inside, "7:blkio:/docker/1\n").ok().unwrap();
        assert_eq!(found.parent, Path::new("/sys/fs/cgroup/blkio"));
    }

    #[test]
    fn of_version_2_the_nearest_group_with_the_controller_is_the_parent() {
        let root = tempfile::tempdir().unwrap();
        let top = root.path().display().to_string();
        let own = root.path().join("user.slice/session.scope");
        fs::create_dir_all(&own).unwrap();
        let mounts = format!("31 26 0:20 / {top} rw - cgroup2 cgroup2 rw\n");
        let find = || Hierarchy::of(&mounts, "0::/user.slice/session.scope\n");
        assert!(find().err().unwrap().why.contains("no controller io"));
        fs::write(root.path().join("cgroup.controllers"), "cpu io memory\n").unwrap();
        assert!(find().err().unwrap().why.contains("not enabled"));
        fs::write(root.path().join("cgroup.subtree_control"), "cpu io\n").unwrap();
        let found = find().ok().unwrap();
        assert_eq!(
            (found.version, &*found.parent),
            (CgroupVersion::V2, root.path())
        );
        assert_eq!(found.own, own);
        assert!(Hierarchy::of("", "").err().unwrap().why.contains("mounted"));
    }
}
