//! Commands that run on a private server.

use std::path::PathBuf;

use mimosa_x11::{Game, GameError, PrivateServer};

use crate::desk::{size, start, wait_until};

/// The failure of a command, at once or, on a busy machine, a little later.
fn failure(command: &str, server: &PrivateServer) -> GameError {
    let mut game = match Game::launch(command, server, &[]) {
        Ok(game) => game,
        Err(error) => return error,
    };
    wait_until("the end", || game.check().is_err());
    game.check().unwrap_err()
}

#[test]
fn a_game_that_ends_at_once_says_why() {
    let server = start(size(320, 240));
    let told = failure("echo no wad >&2; exit 3", &server).to_string();
    assert!(
        told.contains("exit status: 3") && told.ends_with("no wad"),
        "{told}"
    );

    let error = failure("no-such-game -fast", &server);
    let GameError::Missing { program, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(program, "no-such-game");
}

#[test]
fn a_game_runs_on_the_server_and_ends_with_us() {
    let server = start(size(320, 240));
    let file = server.authority().with_file_name("environment");
    let command = format!(
        "echo $DISPLAY $XAUTHORITY $SDL_VIDEODRIVER $WAYLAND_DISPLAY > {0}; echo $$ >> {0}; \
         sleep 1000; exit 5",
        file.display()
    );
    let mut game = Game::launch(&command, &server, &[]).unwrap();
    let mut written = String::new();
    wait_until("the game's start", || {
        written = std::fs::read_to_string(&file).unwrap_or_default();
        written.lines().count() == 2
    });
    let expected = format!("{} {} x11", server.display(), server.authority().display());
    let (environment, process) = written.trim().split_once('\n').unwrap();
    assert_eq!(environment, expected);
    assert!(game.has_ended().is_none() && game.check().is_ok());
    let process = PathBuf::from(format!("/proc/{process}"));
    assert!(process.exists());
    game.stop();
    assert!(!process.exists());
}
