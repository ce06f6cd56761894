//! Serves the page, whose files are part of the program.

use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// Path and contents of each file of the built page.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Content security policy: only what this host serves, and images and media from memory.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; media-src 'self' blob:; connect-src 'self'; worker-src 'self'; \
    manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const NOT_BUILT: &str = "This program was built without its page. \
    Run `make play`, or `npm --prefix web ci && npm --prefix web run build` and build it again.\n";

/// A file of the page; `/` is `/index.html`.
pub(super) async fn page(method: Method, uri: Uri) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        let allowed = [(header::ALLOW, "GET, HEAD")];
        return (StatusCode::METHOD_NOT_ALLOWED, allowed).into_response();
    }
    let path = match uri.path() {
        "/" => "/index.html",
        path => path,
    };
    let found = FILES.iter().find(|(name, _)| *name == path);
    let mut response = match found {
        Some((name, contents)) => {
            let kind = kind(name);
            // The bundler puts a hash of the contents into the name.
            let keep = if name.starts_with("/assets/") {
                "public, max-age=31536000, immutable"
            } else {
                "no-cache"
            };
            (
                [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, keep)],
                *contents,
            )
                .into_response()
        }
        None if FILES.is_empty() => (StatusCode::SERVICE_UNAVAILABLE, NOT_BUILT).into_response(),
        None => (
            StatusCode::NOT_FOUND,
            "There is nothing here. The page is at /\n",
        )
            .into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in [
        // Both headers are needed for clocks with a resolution of five microseconds.
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
