//! `mimosa encode`: encodes a clip as a host would, and says how long each frame would have waited.

mod args;
mod error;
mod frames;
mod latency;
mod run;
mod summary;

use std::fs;
use std::path::Path;

pub(crate) use args::Args;
use error::EncodeCommandError;
use mimosa_facts::Codec;

use crate::output::{Existing, Files};
use crate::terminal;

/// Encodes the clip, and prints the summary.
pub(crate) fn run(args: &Args) -> Result<(), EncodeCommandError> {
    let folder = &args.output;
    let is_new = !folder.exists();
    fs::create_dir_all(folder).map_err(|source| EncodeCommandError::Folder {
        path: folder.clone(),
        source,
    })?;
    let result = encode(args, folder);
    if is_new && result.is_err() {
        // A folder that was there before stays, as does one with files in it.
        let _ = fs::remove_dir(folder);
    }
    result
}

/// Encodes the clip into `folder`.
fn encode(args: &Args, folder: &Path) -> Result<(), EncodeCommandError> {
    let mut files = Files::default();
    files.reads("clip", &args.clip);
    let mut create = |name: &str| files.create(&folder.join(name), Existing::Replace);
    let mut table = create("frames.csv")?;
    let mut stream = None;
    let mut rows = Vec::new();
    table.put(format!("{}\n", frames::Row::HEADER).as_bytes())?;
    run::clip(args, |codec, data, row| {
        let stream = match &mut stream {
            Some(stream) => stream,
            none => none.insert(create(file_name(codec))?),
        };
        stream.put(data)?;
        table.put(format!("{row}\n").as_bytes())?;
        rows.push(row);
        Ok(())
    })?;
    let summary = summary::Summary::of(&rows).ok_or_else(|| EncodeCommandError::NoFrames {
        path: args.clip.clone(),
    })?;
    for output in stream.into_iter().chain([table]) {
        output.finish()?;
    }
    let text = if args.json {
        serde_json::to_string(&summary)? + "\n"
    } else {
        summary.to_string()
    };
    Ok(terminal::print(&text)?)
}

/// Name of the file for the stream, with the suffix of its codec.
const fn file_name(codec: Codec) -> &'static str {
    match codec {
        Codec::H264 => "stream.h264",
        Codec::H265 => "stream.h265",
        Codec::Av1 => "stream.obu",
    }
}
