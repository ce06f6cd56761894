//! The users of this machine, as one of whom a program at an end of a link may run.

use std::path::PathBuf;

use crate::error::LinkError;

/// A user, from the machine's files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct User {
    /// The user's name.
    pub(crate) name: String,
    pub(crate) number: u32,
    /// Number of the group to which new files belong.
    pub(crate) group: u32,
    /// Numbers of all groups that the user belongs to.
    pub(crate) groups: Vec<u32>,
    pub(crate) home: PathBuf,
}

impl User {
    /// Finds the user with this name or number.
    ///
    /// # Errors
    ///
    /// [`LinkError::NoUser`] if there is no such user.
    pub fn named(name: &str) -> Result<Self, LinkError> {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let found = Self::find(name, &read("/etc/passwd"), &read("/etc/group"));
        found.ok_or_else(|| LinkError::NoUser(name.to_owned()))
    }

    /// Finds a user in the texts of passwd(5) and group(5).
    fn find(wanted: &str, users: &str, groups: &str) -> Option<Self> {
        let mut users = users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>());
        let user = users
            .find(|fields| fields.first() == Some(&wanted) || fields.get(2) == Some(&wanted))?;
        let [name, _, number, group, _, home, ..] = user[..] else {
            return None;
        };
        let group = group.parse().ok()?;
        let others = groups.lines().filter_map(|line| {
            let [_, _, number, members] = line.split(':').collect::<Vec<_>>()[..] else {
                return None;
            };
            let is_in = members.split(',').any(|member| member == name);
            number
                .parse()
                .ok()
                .filter(|number| is_in && *number != group)
        });
        Some(Self {
            name: name.to_owned(),
            number: number.parse().ok()?,
            group,
            groups: std::iter::once(group).chain(others).collect(),
            home: PathBuf::from(home),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nbroken\nada:x:1000:1001:Ada,,:/home/ada:\n";
    const GROUPS: &str = "root:x:0:\naudio:x:29:ada,bob\nada:x:1001:ada\nvideo:x:44:bob\nx\n";

    #[test]
    fn a_user_is_found_by_name_and_by_number() {
        let ada = User::find("ada", USERS, GROUPS).unwrap();
        assert_eq!((ada.number, ada.group), (1000, 1001));
        assert_eq!(ada.groups, [1001, 29]);
        assert_eq!(ada.home, PathBuf::from("/home/ada"));
        assert_eq!(User::find("1000", USERS, GROUPS), Some(ada));
        for nobody in ["bob", "1001", "", "broken", "x"] {
            assert_eq!(User::find(nobody, USERS, GROUPS), None, "{nobody}");
        }
    }
}
