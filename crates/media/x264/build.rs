//! Declares the few functions of libx264 that this crate calls, from the header that is
//! installed. The library itself is loaded when the program runs.

const FUNCTIONS: [&str; 8] = [
    "x264_encoder_close",
    "x264_encoder_encode",
    "x264_encoder_invalidate_reference",
    "x264_encoder_reconfig",
    "x264_nal_encode",
    "x264_param_apply_profile",
    "x264_param_default_preset",
    "x264_picture_init",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = bindgen::builder()
        .header_contents(
            "functions.h",
            "#include <stdarg.h>\n#include <stdint.h>\n#include <x264.h>\n",
        )
        .rust_edition(bindgen::RustEdition::Edition2024)
        .generate_comments(false)
        .layout_tests(false)
        .dynamic_library_name("Functions")
        .dynamic_link_require_all(true)
        .allowlist_type("nal_unit_type_e")
        .allowlist_var("X264_.*");
    for name in FUNCTIONS {
        builder = builder.allowlist_function(name);
    }
    let library = pkg_config::Config::new()
        .cargo_metadata(false)
        .probe("x264")?;
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
