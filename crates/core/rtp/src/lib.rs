//! RTP and RTCP as bytes: headers, payloads of H.264, H.265 and AV1, header extensions, feedback,
//! requests to an encoder, retransmissions, repair packets, and datagrams in a stream of TCP.
//!
//! All input may come from anybody: no input makes this crate panic, and an error says what is
//! wrong, where, and what is expected.

pub mod av1;
pub mod codec_control;
pub mod congestion_control;
pub mod dependency;
pub mod enclosed;
pub mod flexfec;
pub mod framing;
pub mod h264;
pub mod h265;
pub mod keyframe;
pub mod nack;
mod nal;
pub mod packet;
mod payloads;
mod reader;
pub mod red;
pub mod repair;
pub mod rtcp;
pub mod rtx;
pub mod transport_cc;
pub mod video;
