//! Declares the few of SVT-AV1's functions that this crate calls, from the header that is
//! installed. The library itself is loaded when the program runs.

const FUNCTIONS: [&str; 9] = [
    "svt_av1_enc_deinit",
    "svt_av1_enc_deinit_handle",
    "svt_av1_enc_get_packet",
    "svt_av1_enc_init",
    "svt_av1_enc_init_handle",
    "svt_av1_enc_release_out_buffer",
    "svt_av1_enc_send_picture",
    "svt_av1_enc_set_parameter",
    "svt_av1_get_version",
];

const CONSTANTS: [&str; 3] = [
    "EB_BUFFERFLAG_EOS",
    "SVT_AV1_VERSION_MAJOR",
    "SVT_AV1_VERSION_MINOR",
];

const TYPES: [&str; 3] = ["EbSvtIOFormat", "SvtAv1PredStructure", "SvtAv1RcMode"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = bindgen::builder()
        .header_contents("functions.h", "#include <EbSvtAv1Enc.h>\n")
        .rust_edition(bindgen::RustEdition::Edition2024)
        .generate_comments(false)
        .layout_tests(false)
        .dynamic_library_name("Functions")
        .dynamic_link_require_all(true);
    for name in FUNCTIONS {
        builder = builder.allowlist_function(name);
    }
    for name in TYPES {
        builder = builder.allowlist_type(name);
    }
    for name in CONSTANTS {
        builder = builder.allowlist_var(name);
    }
    // Debian 12 has 1.4.1. The structures differ from version to version, and so do the
    // settings that are allowed at low delay.
    let library = pkg_config::Config::new()
        .range_version("1.4".."2")
        .cargo_metadata(false)
        .probe("SvtAv1Enc")?;
    for folder in library.include_paths {
        builder = builder.clang_arg(format!("-I{}", folder.display()));
    }
    let folder = std::env::var("OUT_DIR")?;
    builder
        .generate()?
        .write_to_file(format!("{folder}/functions.rs"))?;
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
