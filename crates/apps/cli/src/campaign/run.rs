//! Runs the sessions that a data set lacks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mimosa_campaign::{Campaign, Machine, Session};

use super::error::CliError;
use super::folder::Folder;
use super::remote::{Mode, Remote};
use super::session;
use crate::terminal::say;

/// Time for `mimosa --version`, the connection to the machine included.
const VERSION: Duration = Duration::from_secs(30);

/// Runs the sessions that `folder` does not have, over all paths at once or in turn.
pub(super) fn run(campaign: &Campaign, folder: &Folder) -> Result<(), CliError> {
    let sessions = campaign.sessions();
    let mut left = Vec::new();
    for one in &sessions {
        if folder.row(&one.id)?.is_none() {
            left.push(one);
        }
    }
    if left.is_empty() {
        return Ok(());
    }
    let mut versions = BTreeMap::new();
    for machine in &campaign.machines {
        let version = version(machine).map_err(|why| CliError::Machine {
            machine: machine.name.clone(),
            why,
        })?;
        versions.insert(machine.name.clone(), version);
    }
    folder.keep_versions(&versions)?;
    let done = AtomicUsize::new(sessions.len() - left.len());
    let one_after_other = |mine: Vec<&Session>| {
        for (number, one) in mine.into_iter().enumerate() {
            if number > 0 {
                session::wait_until(session::now() + session::duration(campaign.pause));
            }
            let (row, raw) = session::run(campaign, one);
            folder.keep(&row, &raw)?;
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            let how = row
                .cause
                .map_or("done".to_owned(), |cause| format!("failed: {cause}"));
            say(format_args!("{count}/{} {} {how}", sessions.len(), one.id));
        }
        Ok(())
    };
    if !campaign.paths_at_once {
        return one_after_other(left);
    }
    std::thread::scope(|scope| {
        let of = |path| left.iter().filter(move |one| one.path == path).copied();
        let one_after_other = &one_after_other;
        let running: Vec<_> = (0..campaign.paths.len())
            .map(|path| {
                let mine: Vec<&Session> = of(path).collect();
                scope.spawn(move || one_after_other(mine))
            })
            .collect();
        running
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or(Err(CliError::Broken)))
    })
}

/// What `mimosa --version` prints on a machine.
fn version(machine: &Machine) -> Result<String, String> {
    let words = [machine.mimosa.clone(), "--version".to_owned()];
    let mut program = Remote::start(machine, Mode::Plain, VERSION, &words, None)?;
    program.ended(session::now() + VERSION)?;
    let version = String::from_utf8_lossy(program.written()).trim().to_owned();
    if version.starts_with("mimosa ") {
        Ok(version)
    } else {
        Err(format!("it says `{}`", mimosa_units::shortened(&version)))
    }
}
