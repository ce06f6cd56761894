//! The files that a command reads and writes.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::OutputError;
use super::whole::{Whole, part};
use super::{Output, Sink, is_standard};

/// What to do if an output exists already.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Existing {
    Replace,
    Refuse,
}

/// The files that a command reads and writes.
#[derive(Debug, Default)]
pub(crate) struct Files {
    read: Vec<(&'static str, Known)>,
    written: Vec<Known>,
}

/// A file that must not be replaced.
#[derive(Debug)]
struct Known {
    /// The path as it was given.
    path: PathBuf,
    place: PathBuf,
    number: Option<(u64, u64)>,
}

impl Known {
    /// Whether the file is at this place, or has this device and inode number.
    fn is_at(&self, place: &Path, number: Option<(u64, u64)>) -> bool {
        self.place == place || number.is_some() && self.number == number
    }
}

impl Files {
    /// Notes that the command reads the file at `path`. `what` names its kind in errors.
    pub(crate) fn reads(&mut self, what: &'static str, path: &Path) {
        // A file that does not exist cannot be lost, and a device or pipe cannot be replaced.
        if !is_standard(path)
            && let Ok(Place::File(place, number)) = Place::of(path)
        {
            let path = path.to_owned();
            let known = Known {
                path,
                place,
                number,
            };
            self.read.push((what, known));
        }
    }

    /// Creates the output at `path`; `-` is standard output.
    pub(crate) fn create(
        &mut self,
        path: &Path,
        existing: Existing,
    ) -> Result<Output, OutputError> {
        let path = path.to_owned();
        if is_standard(&path) {
            let sink = Sink::Standard;
            return Ok(Output { path, sink });
        }
        let place = Place::of(&path);
        let is_there = !matches!(place, Ok(Place::File(_, None)) | Err(_));
        if is_there && existing == Existing::Refuse {
            return Err(OutputError::Exists { path });
        }
        let sink = match place {
            Ok(Place::File(place, number)) => self.whole(&path, place, number)?,
            Ok(Place::Stream) => {
                let opened = OpenOptions::new().write(true).open(&path);
                Sink::Stream(BufWriter::new(
                    opened.map_err(|source| created(&path, source))?,
                ))
            }
            Err(source) => return Err(created(&path, source)),
        };
        Ok(Output { path, sink })
    }

    /// Creates a file at `place`, unless it or its `.part` file is another one of this command.
    fn whole(
        &mut self,
        path: &Path,
        place: PathBuf,
        number: Option<(u64, u64)>,
    ) -> Result<Sink, OutputError> {
        let part = part(&place);
        let is_known = |known: &Known| known.is_at(&place, number) || known.place == part;
        if let Some((what, known)) = self.read.iter().find(|(_, known)| is_known(known)) {
            return Err(OutputError::ReplacesInput {
                what,
                input: known.path.clone(),
            });
        }
        if self.written.iter().any(is_known) {
            let path = path.to_owned();
            return Err(OutputError::Twice { path });
        }
        let whole = Whole::create(place.clone()).map_err(|source| created(path, source))?;
        let path = path.to_owned();
        let Some(whole) = whole else {
            return Err(OutputError::Busy { path });
        };
        for place in [place, part] {
            let path = path.clone();
            let known = Known {
                path,
                place,
                number,
            };
            self.written.push(known);
        }
        Ok(Sink::Whole(whole))
    }
}

fn created(path: &Path, source: io::Error) -> OutputError {
    let path = path.to_owned();
    OutputError::Create { path, source }
}

/// What a path leads to.
enum Place {
    /// A file, or a place where there is none: the path without symbolic links, and the device and
    /// inode number of an existing file.
    File(PathBuf, Option<(u64, u64)>),
    /// A device, a pipe, or a file that a process has open: bytes are written to it directly.
    Stream,
}

impl Place {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self::File(missing(path)?, None));
            }
            Err(error) => return Err(error),
        };
        if metadata.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        // `/dev/stdout` may be a file, into which the process that opened it expects the bytes.
        let is_opened = path.starts_with("/dev") || path.starts_with("/proc");
        if !metadata.is_file() || is_opened {
            return Ok(Self::Stream);
        }
        let number = (metadata.dev(), metadata.ino());
        Ok(Self::File(path.canonicalize()?, Some(number)))
    }
}

/// The path of a file that does not exist, without symbolic links.
fn missing(path: &Path) -> io::Result<PathBuf> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let name = path.file_name().ok_or(ErrorKind::IsADirectory)?;
    Ok(folder.canonicalize()?.join(name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::output::scratch;

    #[test]
    fn an_input_is_known_by_every_name() {
        let folder = scratch("inputs");
        let at = |name: &str| folder.join(name);
        fs::write(at("input"), "text").unwrap();
        fs::create_dir(at("below")).unwrap();
        symlink(at("input"), at("symlink")).unwrap();
        fs::hard_link(at("input"), at("hard")).unwrap();
        symlink(at("below"), at("folder")).unwrap();
        let mut files = Files::default();
        files.reads("trace", &at("symlink"));
        for name in [
            "input",
            "symlink",
            "hard",
            "folder/../input",
            "below/../hard",
        ] {
            let error = files.create(&at(name), Existing::Replace).unwrap_err();
            let text = format!(
                "an output would replace the trace {}; give it a file of its own",
                at("symlink").display()
            );
            assert_eq!(error.to_string(), text, "{name}");
        }
        assert_eq!(fs::read(at("input")).unwrap(), b"text");
        assert!(files.create(&at("other"), Existing::Replace).is_ok());
    }

    #[test]
    fn two_outputs_have_two_files() {
        let folder = scratch("outputs");
        let at = |name: &str| folder.join(name);
        fs::create_dir(at("below")).unwrap();
        symlink(at("below"), at("folder")).unwrap();
        let mut files = Files::default();
        let mut create = |name: &str| files.create(&at(name), Existing::Replace);
        let _one = create("below/one").unwrap();
        for name in ["below/one", "folder/one", "below/one.part"] {
            assert!(
                matches!(create(name), Err(OutputError::Twice { .. })),
                "{name}"
            );
        }
        let _other = create("below/two.part").unwrap();
        assert!(matches!(
            create("below/two"),
            Err(OutputError::Twice { .. })
        ));
    }

    #[test]
    fn devices_are_written_to_as_they_are() {
        let mut files = Files::default();
        files.reads("trace", Path::new("/dev/null"));
        for _ in 0..2 {
            let mut null = files.create(Path::new("/dev/null"), Existing::Replace);
            null.as_mut().unwrap().put(b"text").unwrap();
            null.unwrap().finish().unwrap();
        }
        let mut full = files
            .create(Path::new("/dev/full"), Existing::Replace)
            .unwrap();
        assert!(matches!(full.put(b"text"), Err(OutputError::Write { .. })));
        assert!(!Path::new("/dev/full.part").exists());
    }

    #[test]
    fn an_output_without_a_place_is_refused() {
        let folder = scratch("no-place");
        let mut files = Files::default();
        for name in ["none/file", ".", "..", ""] {
            let created = files.create(&folder.join(name), Existing::Replace);
            assert!(matches!(created, Err(OutputError::Create { .. })), "{name}");
        }
        fs::write(folder.join("file"), "text").unwrap();
        let refused = files.create(&folder.join("file"), Existing::Refuse);
        assert!(matches!(refused, Err(OutputError::Exists { .. })));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}
