//! The decoder's process.

use std::io::{stdin, stdout};
use std::os::fd::AsFd;

use mimosa_avcodec::{DecodedPicture, decodable};
use mimosa_facts::Codec;
use mimosa_video::Plane;
use rustix::io::{Errno, read, write};
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::confine::confine;
use crate::local::{Local, open};
use crate::memory::LARGEST_PICTURE;
use crate::message::{Answer, REQUEST, Request};
use crate::raw::{Slot, close_from};

/// Decodes for the process that has started this one, until it wants no more: descriptor 0 is a socket to
/// it, and 1 the memory for pictures. All other descriptors are closed, so that this is all that the
/// program does.
///
/// Before the first byte from the host is read, libavcodec is loaded, a decoder of each codec was opened,
/// and the process is [confined](confine()). Decoders are opened again after that, and so are their threads.
pub fn serve(threads: u8) {
    match ready(threads) {
        Ok((slot, codecs, decoder)) => {
            // The other side has ended if it takes no answer.
            let _ = answer(&Answer::Ready { codecs }).and_then(|()| requests(slot, decoder));
        }
        Err(reason) => {
            let _ = answer(&Answer::Failed { reason });
        }
    }
}

/// Prepares everything that a file is needed for, and gives up the rest.
fn ready(threads: u8) -> Result<(Slot, Vec<Codec>, Local), String> {
    // The process that waits for pictures may be killed, and this one might then be busy.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    let slot = Slot::map(stdout().as_fd(), LARGEST_PICTURE)
        .map_err(|error| format!("the memory for pictures cannot be mapped: {error}"))?;
    close_from(1).map_err(|error| format!("descriptors cannot be closed: {error}"))?;
    let codecs = decodable();
    for codec in &codecs {
        // Whatever libavcodec does once is done here.
        open(*codec, threads).map_err(|error| error.to_string())?;
    }
    if codecs.is_empty() {
        Local::open(threads).map_err(|error| error.to_string())?;
    }
    // A library may have kept a file open.
    close_from(1).map_err(|error| format!("descriptors cannot be closed: {error}"))?;
    confine().map_err(|error| error.to_string())?;
    let decoder = Local::open(threads).map_err(|error| error.to_string())?;
    Ok((slot, codecs, decoder))
}

/// Answers requests until the other side has ended.
fn requests(mut slot: Slot, mut decoder: Local) -> Result<(), Errno> {
    let mut bytes = Vec::new();
    loop {
        let mut head = [0; REQUEST];
        receive(&mut head)?;
        let request = Request::parse(&head).ok_or(Errno::INVAL)?;
        bytes.resize(request.length(), 0);
        receive(&mut bytes)?;
        match request {
            Request::Slices { number, from, .. } => {
                let from = usize::try_from(from).unwrap_or(usize::MAX);
                decoder.begin(number, from, &bytes);
            }
            Request::Frame { number, codec, .. } => {
                let result = decoder.decode(number, codec, &bytes);
                answer(&match result {
                    Ok(Some(picture)) => show(number, &picture, &mut slot),
                    Ok(None) => Answer::Nothing { number },
                    Err(error) => Answer::Refused {
                        number,
                        reason: error.to_string(),
                    },
                })?;
            }
        }
    }
}

/// Writes a picture into the memory: its planes one after the other, rows without gaps.
fn show(number: u64, picture: &DecodedPicture, slot: &mut Slot) -> Answer {
    let view = picture.view();
    let mut at = 0;
    for plane in [Plane::Y, Plane::U, Plane::V] {
        for row in view.rows(plane) {
            if !slot.put(at, row) {
                return Answer::Refused {
                    number,
                    reason: "the picture is too large".to_owned(),
                };
            }
            at += row.len();
        }
    }
    Answer::Picture {
        number,
        size: picture.size(),
        colours: view.colours(),
        is_damaged: picture.is_damaged(),
    }
}

/// Reads as many bytes as `bytes` has.
fn receive(mut bytes: &mut [u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match read(stdin(), &mut *bytes) {
            Ok(0) => return Err(Errno::PIPE),
            Ok(count) => bytes = bytes.get_mut(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Sends an answer.
fn answer(answer: &Answer) -> Result<(), Errno> {
    let bytes = answer.bytes();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        match write(stdin(), rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
