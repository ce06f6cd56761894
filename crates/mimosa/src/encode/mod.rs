//! `mimosa encode`: a clip through the encoder as a host has it, and what each frame
//! would have waited for.

mod args;
mod error;
mod frames;
mod latency;
mod run;
mod summary;

use std::fs::{self, File};
use std::io::{BufWriter, Write};

pub(crate) use args::Args;
use error::EncodeCommandError;
use mimosa_video::Codec;

/// Encodes the clip and prints what came of it.
pub(crate) fn run(args: &Args) -> Result<(), EncodeCommandError> {
    fs::create_dir_all(&args.output).map_err(|source| EncodeCommandError::Write {
        path: args.output.clone(),
        source,
    })?;
    let create = |name: &str| {
        let path = args.output.join(name);
        match File::create(&path) {
            Ok(file) => Ok((BufWriter::new(file), path)),
            Err(source) => Err(EncodeCommandError::Write { path, source }),
        }
    };
    let mut stream = None;
    let (mut table, table_path) = create("frames.csv")?;
    let mut rows = Vec::new();
    let write = |path: &std::path::Path, result: std::io::Result<()>| {
        result.map_err(|source| EncodeCommandError::Write {
            path: path.to_owned(),
            source,
        })
    };
    write(&table_path, writeln!(table, "{}", frames::Row::HEADER))?;
    run::clip(args, |codec, data, row| {
        let (stream, path) = match &mut stream {
            Some(stream) => stream,
            none => none.insert(create(file_name(codec))?),
        };
        write(path, stream.write_all(data))?;
        write(&table_path, writeln!(table, "{row}"))?;
        rows.push(row);
        Ok(())
    })?;
    if let Some((stream, path)) = &mut stream {
        write(path, stream.flush())?;
    }
    write(&table_path, table.flush())?;
    let summary = summary::Summary::of(&rows).ok_or_else(|| EncodeCommandError::NoFrames {
        path: args.clip.clone(),
    })?;
    if args.json {
        println!("{}", serde_json::to_string(&summary)?);
    } else {
        print!("{summary}");
    }
    Ok(())
}

/// The stream's, with the ending by which others know its codec.
const fn file_name(codec: Codec) -> &'static str {
    match codec {
        Codec::H264 => "stream.h264",
        Codec::H265 => "stream.h265",
        Codec::Av1 => "stream.obu",
    }
}
