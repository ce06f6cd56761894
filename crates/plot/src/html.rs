//! A page around a figure.

use std::fmt::Write as _;

use crate::{Figure, PlotError, Table, draw};

/// The page's looks. The rules for `svg` recolour the figure in dark mode; CSS
/// comes before the attributes there.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#222;--muted:#666;--line:#e4e4e4;--paper:#fff}
body{max-width:1000px;margin:2rem auto;padding:0 1rem;background:var(--paper);\
color:var(--ink);font:16px/1.5 \"DejaVu Sans\",Verdana,sans-serif}
h1{font-size:1.4rem;font-weight:normal;line-height:1.25;margin:0;overflow-wrap:anywhere}
h1+p{color:var(--muted);margin:.25rem 0 0;overflow-wrap:anywhere}
.wide{overflow-x:auto;margin:1.5rem 0}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .8rem;border-bottom:1px solid var(--line);text-align:right}
th:first-child,td:first-child{padding-left:0;text-align:left}
caption{text-align:left;padding-bottom:.3rem}
th{font-weight:normal;color:var(--muted)}
svg{display:block;width:100%;height:auto;min-width:44rem}
@media(prefers-color-scheme:dark){
:root{--ink:#dcdee2;--muted:#9a9da3;--line:#33363c;--paper:#16181c}
svg rect{fill:var(--paper)}
svg text{fill:var(--ink)}
svg [stroke=\"#E4E4E4\"]{stroke:var(--line)}
svg [stroke=\"#000000\"]{stroke:#fff}
svg circle[fill=\"#000000\"]{fill:#fff}
}";

/// The page with title, subtitle, tables and figure.
pub(crate) fn page(figure: &Figure, tables: &[Table]) -> Result<String, PlotError> {
    let title = escape(&figure.title);
    let untitled = Figure {
        title: String::new(),
        subtitle: String::new(),
        ..figure.clone()
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    if !figure.subtitle.is_empty() {
        let _ = writeln!(page, "<p>{}</p>", escape(&figure.subtitle));
    }
    for table in tables {
        page.push_str("<div class=\"wide\">\n<table>\n");
        if !table.title.is_empty() {
            let _ = writeln!(page, "<caption>{}</caption>", escape(&table.title));
        }
        page.push_str("<thead>\n");
        row(&mut page, "th", &table.headers);
        page.push_str("</thead>\n<tbody>\n");
        for cells in &table.rows {
            row(&mut page, "td", cells);
        }
        page.push_str("</tbody>\n</table>\n</div>\n");
    }
    let svg = draw::svg(&untitled)?;
    let _ = write!(
        page,
        "<div class=\"wide\">\n{svg}</div>\n</body>\n</html>\n"
    );
    Ok(page)
}

/// Appends one row of the table.
fn row(page: &mut String, tag: &str, cells: &[String]) {
    page.push_str("<tr>");
    for cell in cells {
        let _ = write!(page, "<{tag}>{}</{tag}>", escape(cell));
    }
    page.push_str("</tr>\n");
}

/// Text that stands for itself in elements and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
