//! A page of figures, tables and text.

use std::fmt::Write as _;

use crate::{Figure, Heat, PlotError, Table, draw};

/// An HTML page without external references. It follows the reader's light or dark mode, and
/// scrolls wide content where the screen is narrow.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Heading of the page.
    pub title: String,
    /// Subject of the page; may be empty.
    pub subtitle: String,
    /// Parts of the page, from top to bottom.
    pub parts: Vec<Part>,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// The heading of the parts that follow.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Names with their values, to be seen at a glance.
    Values(Vec<(String, String)>),
    /// A table.
    Table(Table),
    /// A figure. All figures of a page have their y axes at the same place.
    Figure(Figure),
    /// A matrix on coloured cells.
    Heat(Heat),
}

/// The style of the page. The rules for `svg` recolour figures in dark mode; there, CSS overrides
/// attributes.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#222;--muted:#666;--line:#e4e4e4;--paper:#fff}
body{max-width:1000px;margin:2rem auto;padding:0 1rem;background:var(--paper);\
color:var(--ink);font:16px/1.5 \"DejaVu Sans\",Verdana,sans-serif}
h1{font-size:1.4rem;font-weight:normal;line-height:1.25;margin:0;overflow-wrap:anywhere}
h1+p{color:var(--muted);margin:.25rem 0 0;overflow-wrap:anywhere}
h2{font-size:1.1rem;font-weight:normal;margin:2.5rem 0 0;padding-top:.75rem;\
border-top:1px solid var(--line)}
h2+p{color:var(--muted);font-size:.85rem;margin:.25rem 0 0}
h2+p+.wide{margin-top:0}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));\
gap:1.25rem 1rem;margin:1.75rem 0}
dl div{display:flex;flex-direction:column-reverse;justify-content:flex-end}
dt{color:var(--muted);font-size:.8rem;line-height:1.3}
dd{font-size:1.3rem;line-height:1.3;margin:0;font-variant-numeric:tabular-nums}
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
svg circle[fill=\"#000000\"],svg polygon[fill=\"#000000\"]{fill:#fff}
}";

impl Page {
    /// The page as an HTML document.
    ///
    /// # Errors
    ///
    /// The errors of [`Figure::to_svg`] and [`Heat::to_svg`].
    pub fn to_html(&self) -> Result<String, PlotError> {
        let title = escape(&self.title);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        );
        if !self.subtitle.is_empty() {
            let _ = writeln!(page, "<p>{}</p>", escape(&self.subtitle));
        }
        let figures = self.parts.iter().filter_map(|part| match part {
            Part::Figure(figure) => Some(draw::left(figure)),
            _ => None,
        });
        let lefts: Vec<_> = figures.collect::<Result<_, _>>()?;
        let left = lefts.into_iter().max().unwrap_or_default();
        for part in &self.parts {
            match part {
                Part::Heading(text) => {
                    let _ = writeln!(page, "<h2>{}</h2>", escape(text));
                }
                Part::Text(text) => {
                    let _ = writeln!(page, "<p>{}</p>", escape(text));
                }
                Part::Values(values) => list(&mut page, values),
                Part::Table(table) => self::table(&mut page, table),
                Part::Figure(figure) => {
                    let svg = draw::svg(figure, left)?;
                    let _ = write!(page, "<div class=\"wide\">\n{svg}</div>\n");
                }
                Part::Heat(heat) => {
                    let svg = heat.to_svg()?;
                    let _ = write!(page, "<div class=\"wide\">\n{svg}</div>\n");
                }
            }
        }
        page.push_str("</body>\n</html>\n");
        Ok(page)
    }
}

/// Appends names and their values.
fn list(page: &mut String, values: &[(String, String)]) {
    page.push_str("<dl>\n");
    for (name, value) in values {
        let (name, value) = (escape(name), escape(value));
        let _ = writeln!(page, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    page.push_str("</dl>\n");
}

/// Appends a table.
fn table(page: &mut String, table: &Table) {
    page.push_str("<div class=\"wide\">\n<table>\n");
    if !table.title.is_empty() {
        let _ = writeln!(page, "<caption>{}</caption>", escape(&table.title));
    }
    page.push_str("<thead>\n");
    row(page, "th", &table.headers);
    page.push_str("</thead>\n<tbody>\n");
    for cells in &table.rows {
        row(page, "td", cells);
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
}

/// Appends one row of the table.
fn row(page: &mut String, tag: &str, cells: &[String]) {
    page.push_str("<tr>");
    for cell in cells {
        let _ = write!(page, "<{tag}>{}</{tag}>", escape(cell));
    }
    page.push_str("</tr>\n");
}

/// The text with the characters escaped that have a meaning in elements and quoted attributes.
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
