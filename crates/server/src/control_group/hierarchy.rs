//! Where the control groups of disks are, and where dbdyno's own can be made.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    controller::Controller,
    obstacle::{Obstacle, refused},
    version::CgroupVersion,
};

/// A tree of control groups, and what it limits.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    pub(super) version: CgroupVersion,
    pub(super) controllers: Vec<Controller>,
    /// The directory below which a group is made.
    pub(super) parent: PathBuf,
    /// The group of this process.
    pub(super) own: PathBuf,
}

/// The kernel's tables of what is mounted, and of the groups of this process.
#[derive(Debug)]
pub(super) struct Tables {
    mounts: String,
    groups: String,
}

impl Tables {
    /// Those of this process.
    pub(super) fn read() -> Result<Self, Obstacle> {
        let read = |path: &str| {
            fs::read_to_string(path).map_err(|error| refused("read", Path::new(path), &error))
        };
        Ok(Self {
            mounts: read("/proc/self/mountinfo")?,
            groups: read("/proc/self/cgroup")?,
        })
    }

    /// The trees with these controllers. A controller belongs to one version only: to a tree of version 1 where that is
    /// mounted, or to the one of version 2.
    pub(super) fn hierarchies(&self, wanted: &[Controller]) -> Result<Vec<Hierarchy>, Obstacle> {
        let mounts: Vec<Mount<'_>> = self.mounts.lines().filter_map(Mount::parse).collect();
        let mut found: Vec<Hierarchy> = Vec::new();
        let mut of_version_2 = Vec::new();
        for &controller in wanted {
            let name = controller.name(CgroupVersion::V1);
            let is_it = |it: &&Mount<'_>| it.kind == "cgroup" && has(it.options, ',', name);
            let Some(mount) = mounts.iter().find(is_it) else {
                of_version_2.push(controller);
                continue;
            };
            let own = mount.group(&self.groups, |controllers| has(controllers, ',', name));
            // Two controllers can share a tree: cpu,cpuacct.
            match found.iter_mut().find(|it| it.own == own) {
                Some(hierarchy) => hierarchy.controllers.push(controller),
                None => found.push(Hierarchy {
                    version: CgroupVersion::V1,
                    controllers: vec![controller],
                    parent: own.clone(),
                    own,
                }),
            }
        }
        if !of_version_2.is_empty() {
            found.push(self.of_version_2(&mounts, of_version_2)?);
        }
        Ok(found)
    }

    fn of_version_2(
        &self,
        mounts: &[Mount<'_>],
        controllers: Vec<Controller>,
    ) -> Result<Hierarchy, Obstacle> {
        let Some(mount) = mounts.iter().find(|it| it.kind == "cgroup2") else {
            return Err(Obstacle {
                why: "no control groups are mounted".to_owned(),
                hint: "mount them: mount -t cgroup2 none /sys/fs/cgroup",
            });
        };
        let own = mount.group(&self.groups, str::is_empty);
        let top = Path::new(mount.point);
        let names = || controllers.iter().map(|it| it.name(CgroupVersion::V2));
        let missing = |group: &Path, file: &str| {
            let text = fs::read_to_string(group.join(file)).unwrap_or_default();
            names().find(|name| !text.split_whitespace().any(|it| it == *name))
        };
        if let Some(name) = missing(top, "cgroup.controllers") {
            return Err(Obstacle {
                why: format!("{} has no controller {name}", top.display()),
                hint: "a kernel with CONFIG_BLK_DEV_THROTTLING, CONFIG_CFS_BANDWIDTH and CONFIG_MEMCG has them, unless \
                       those of version 1 are in use",
            });
        }
        // The nearest group whose children have the controllers: groups of others are not changed.
        let mut groups = own.ancestors().take_while(|it| it.starts_with(top));
        match groups.find(|it| missing(it, "cgroup.subtree_control").is_none()) {
            Some(parent) => Ok(Hierarchy {
                version: CgroupVersion::V2,
                parent: parent.to_owned(),
                own: own.clone(),
                controllers,
            }),
            None => Err(Obstacle {
                why: format!(
                    "controllers are not enabled in {}: {}",
                    top.display(),
                    names().collect::<Vec<_>>().join(", ")
                ),
                hint: "enable them as root: echo \"+io +cpu +memory\" > /sys/fs/cgroup/cgroup.subtree_control",
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

    fn tables(mounts: &str, groups: &str) -> Tables {
        Tables {
            mounts: mounts.to_owned(),
            groups: groups.to_owned(),
        }
    }

    fn one(tables: &Tables) -> Hierarchy {
        let found = tables.hierarchies(&[Controller::Disk]);
        found.ok().unwrap().remove(0)
    }

    #[test]
    fn blkio_of_version_1_goes_first() {
        let mounts = "31 26 0:20 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                      32 26 0:21 / /sys/fs/cgroup/blkio rw,relatime shared:9 - cgroup cgroup rw,blkio\n";
        let found = one(&tables(mounts, "7:blkio:/user\n0::/\n"));
        assert_eq!(found.version, CgroupVersion::V1);
        assert_eq!(found.parent, Path::new("/sys/fs/cgroup/blkio/user"));
        let inside = mounts.replace("0:21 / ", "0:21 /docker/1 ");
        let found = one(&tables(&inside, "7:blkio:/docker/1\n"));
        assert_eq!(found.parent, Path::new("/sys/fs/cgroup/blkio"));
    }

    #[test]
    fn each_controller_is_found_in_its_tree() {
        let root = tempfile::tempdir().unwrap();
        let top = root.path().display();
        fs::write(root.path().join("cgroup.controllers"), "memory\n").unwrap();
        fs::write(root.path().join("cgroup.subtree_control"), "memory\n").unwrap();
        let mounts = format!(
            "31 26 0:20 / {top} rw - cgroup2 cgroup2 rw\n\
             32 26 0:21 / /c/io rw - cgroup cgroup rw,blkio\n\
             33 26 0:22 / /c/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        );
        let tables = tables(&mounts, "7:blkio:/a\n2:cpu,cpuacct:/b\n0::/\n");
        let found = tables.hierarchies(&Controller::ALL).ok().unwrap();
        let parents: Vec<_> = found.iter().map(|it| it.parent.clone()).collect();
        assert_eq!(
            parents,
            [Path::new("/c/io/a"), Path::new("/c/cpu/b"), root.path()]
        );
        assert_eq!(found[2].version, CgroupVersion::V2);
        assert_eq!(found[2].controllers, [Controller::Memory]);
    }

    #[test]
    fn of_version_2_the_nearest_group_with_the_controller_is_the_parent() {
        let root = tempfile::tempdir().unwrap();
        let top = root.path().display().to_string();
        let own = root.path().join("user.slice/session.scope");
        fs::create_dir_all(&own).unwrap();
        let mounts = format!("31 26 0:20 / {top} rw - cgroup2 cgroup2 rw\n");
        let tables = tables(&mounts, "0::/user.slice/session.scope\n");
        let why = |tables: &Tables| {
            let found = tables.hierarchies(&[Controller::Disk]);
            found.err().unwrap().why
        };
        assert!(why(&tables).contains("no controller io"));
        fs::write(root.path().join("cgroup.controllers"), "cpu io memory\n").unwrap();
        assert!(why(&tables).contains("not enabled"));
        fs::write(root.path().join("cgroup.subtree_control"), "cpu io\n").unwrap();
        let found = one(&tables);
        assert_eq!(
            (found.version, &*found.parent),
            (CgroupVersion::V2, root.path())
        );
        assert_eq!(found.own, own);
        let none = super::tests::tables("", "");
        assert!(why(&none).contains("mounted"));
    }
}
