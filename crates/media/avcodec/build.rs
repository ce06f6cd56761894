//! Finds libavcodec and declares the few of its functions that this crate calls.

/// The header to declare from. libavcodec's errors are macros, which cannot be declared;
/// the ones this crate needs become constants of an enumeration.
const HEADER: &str = "
#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
enum { SEND_LATER = AVERROR(EAGAIN), NO_MORE = AVERROR_EOF };
";

const FUNCTIONS: [&str; 15] = [
    "av_frame_alloc",
    "av_frame_free",
    "av_log_set_level",
    "av_new_packet",
    "av_packet_alloc",
    "av_packet_free",
    "av_packet_unref",
    "av_strerror",
    "avcodec_alloc_context3",
    "avcodec_find_decoder",
    "avcodec_find_decoder_by_name",
    "avcodec_free_context",
    "avcodec_open2",
    "avcodec_receive_frame",
    "avcodec_send_packet",
];

const CONSTANTS: [&str; 8] = [
    "AV_CODEC_FLAG_LOW_DELAY",
    "AV_FRAME_FLAG_CORRUPT",
    "AV_LOG_QUIET",
    "FF_THREAD_SLICE",
    "SEND_LATER",
    "NO_MORE",
    "AVPixelFormat_.*",
    "AVCol.*",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = bindgen::builder()
        .header_contents("functions.h", HEADER)
        .rust_edition(bindgen::RustEdition::Edition2024)
        .generate_comments(false)
        .layout_tests(false);
    for name in FUNCTIONS {
        builder = builder.allowlist_function(name);
    }
    for name in CONSTANTS {
        builder = builder.allowlist_var(name);
    }
    // Debian 11 has 58, and Debian 12 has 59.
    for (name, version) in [("libavcodec", "58.134"), ("libavutil", "56.70")] {
        let library = pkg_config::Config::new()
            .atleast_version(version)
            .probe(name)?;
        for folder in library.include_paths {
            builder = builder.clang_arg(format!("-I{}", folder.display()));
        }
    }
    let folder = std::env::var("OUT_DIR")?;
    builder
        .generate()?
        .write_to_file(format!("{folder}/functions.rs"))?;
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
