//! Checks of streams by a decoder.

use mimosa_video::Recovery;

use crate::stream::{FRAMES, Stream, luma_psnr, stream_size};
use crate::subject::{MissingFrame, Setup, Subject};

/// A stream without losses, encoded by so many threads.
fn undisturbed(subject: &Subject, threads: u8) -> Stream {
    let setup = Setup {
        threads,
        ..Setup::new(stream_size())
    };
    Stream::encode(subject.opened(&setup).as_mut(), |_| Recovery::None)
}

/// Checks that the decoder's pictures are as good at the end of a stream as near its
/// beginning. A decoder that lacked something that the encoder refers to would drift away.
pub fn decoded_pictures_do_not_drift(subject: &Subject) {
    for &threads in subject.repeatable {
        let qualities = undisturbed(subject, threads).qualities(|_| true);
        let mean = |from: usize| {
            let sum: f64 = qualities[from..from + 20].iter().map(|(_, it)| it).sum();
            sum / 20.0
        };
        let (early, late) = (mean(10), mean(80));
        assert!(
            late > early - 1.0,
            "{}, {threads} threads: {late} dB after {early} dB",
            subject.name
        );
    }
}

/// Checks that a decoder suffers from a missing frame that the next one refers to. This
/// shows that the other checks would notice a missing frame.
pub fn a_missing_frame_is_missed(subject: &Subject) {
    for &threads in subject.repeatable {
        let stream = undisturbed(subject, threads);
        let name = subject.name;
        match subject.missing {
            MissingFrame::Worsens(missing) => {
                let whole = stream.qualities(|_| true);
                let broken = stream.qualities(|number| number != missing);
                let next = usize::try_from(missing).unwrap();
                let (number, quality) = broken[next];
                let before = whole[next + 1].1;
                assert_eq!(number, missing + 1);
                assert!(
                    quality < before - 3.0,
                    "{name}, {threads} threads: {quality} dB at frame {number} without the \
                     one before, {before} dB with it"
                );
            }
            MissingFrame::IsRefused(missing, words) => {
                let complaints = stream.complaints(|number| number != missing);
                assert!(
                    complaints.contains(words),
                    "{name}, {threads} threads: {complaints}"
                );
            }
        }
    }
}

/// Checks that each frame completes a stream whose last picture is the one that was
/// encoded: one picture in, one frame out.
pub fn every_frame_is_a_picture(subject: &Subject) {
    let stream = undisturbed(subject, 1);
    let pictures = stream.pictures();
    for last in (0..18).chain([59, FRAMES - 2]) {
        let decoded = stream.decode(|number| number <= last);
        let index = usize::try_from(last).unwrap();
        assert_eq!(decoded.len(), index + 1, "{} at frame {last}", subject.name);
        let own = luma_psnr(&pictures[index], &decoded[index]);
        let others = [index.saturating_sub(1), index + 1];
        for other in others.into_iter().filter(|&other| other != index) {
            let quality = luma_psnr(&pictures[other], &decoded[index]);
            assert!(
                own > quality + 3.0,
                "{}: frame {last} has {own} dB as picture {last}, {quality} dB as {other}",
                subject.name
            );
        }
    }
}
