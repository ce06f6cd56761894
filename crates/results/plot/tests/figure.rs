//! Whole figures in all three formats.

use mimosa_plot::{Figure, Kind, Page, Panel, Part, Series, Table};

/// Markup, quotes and a control character XML does not allow.
const HOSTILE: &str = "<b>&\"it's\"\u{1b}";

fn series(name: &str, kind: Kind, points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.into(),
        points,
        kind,
    }
}

fn figure(panels: Vec<Vec<Series>>) -> Figure {
    let panel = |series| Panel {
        title: "Delay".into(),
        y_label: "ms".into(),
        y_range: None,
        series,
    };
    Figure {
        title: "A figure".into(),
        subtitle: "with two panels".into(),
        x_label: "Time (s)".into(),
        panels: panels.into_iter().map(panel).collect(),
    }
}

fn sample() -> Figure {
    let wave = (0..5_000).map(|x| (f64::from(x), f64::from(x % 97)));
    figure(vec![
        vec![
            series("link", Kind::Reference, vec![(0.0, 50.0)]),
            series("one", Kind::Line, wave.clone().collect()),
        ],
        vec![
            series("two", Kind::Steps, wave.clone().collect()),
            series("one", Kind::Dots, wave.collect()),
        ],
    ])
}

fn table() -> Table {
    Table {
        title: HOSTILE.into(),
        headers: vec!["Flow".into(), HOSTILE.into()],
        rows: vec![vec!["one".into(), HOSTILE.into()]],
    }
}

#[test]
fn the_same_figure_twice_is_the_same_bytes() {
    assert_eq!(sample().to_svg().unwrap(), sample().to_svg().unwrap());
    let pages = [(); 2].map(|()| sample().to_html(&[table()]).unwrap());
    assert_eq!(pages[0], pages[1]);
}

#[test]
fn the_png_has_the_size_of_the_svg() {
    let svg = sample().to_svg().unwrap();
    let png = sample().to_png().unwrap();
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    let (width, height) = (number(16), number(20));
    assert_eq!(width, 1000);
    assert!((2 * 220..2 * 220 + 200).contains(&height), "{height}");
    assert!(svg.contains(&format!("width=\"{width}\" height=\"{height}\"")));
}

#[test]
fn a_name_has_one_colour_in_all_panels() {
    let svg = sample().to_svg().unwrap();
    assert_eq!(
        svg.matches(">\none\n<").count(),
        1,
        "one entry in the legend"
    );
    assert!(svg.contains("<polyline fill=\"none\" opacity=\"1\" stroke=\"#0072B2\""));
    assert!(svg.contains("r=\"20\" opacity=\"1\" fill=\"#0072B2\""));
    assert!(
        svg.contains("stroke=\"#D55E00\""),
        "the second name differs"
    );
}

#[test]
fn text_is_escaped_everywhere() {
    let mut figure = figure(vec![vec![series(HOSTILE, Kind::Line, vec![(0.0, 1.0)])]]);
    for text in [&mut figure.title, &mut figure.subtitle, &mut figure.x_label] {
        *text = HOSTILE.into();
    }
    figure.panels[0].title = HOSTILE.into();
    figure.panels[0].y_label = HOSTILE.into();
    let page = figure.to_html(&[table(), table()]).unwrap();
    assert!(!page.contains("<b>"));
    assert!(page.contains("<caption>&lt;b"));
    assert!(page.contains("<th>&lt;b&gt;&amp;&quot;it&#39;s&quot;"));
    assert!(figure.to_png().is_ok(), "the SVG is well-formed");
    assert_eq!(page.matches("http").count(), 1, "only the SVG's namespace");
}

#[test]
fn nothing_to_show_is_said_so() {
    let nan = vec![(0.0, f64::NAN), (f64::INFINITY, 1.0)];
    let empty = [
        vec![],
        vec![series("none", Kind::Steps, vec![])],
        vec![series("bad", Kind::Reference, nan)],
    ];
    let figure = figure(empty.to_vec());
    let svg = figure.to_svg().unwrap();
    assert_eq!(svg.matches("no data").count(), 3);
    assert!(figure.to_png().is_ok());
    assert!(!sample().to_svg().unwrap().contains("no data"));
    assert!(Figure::default().to_html(&[Table::default()]).is_ok());
}

#[test]
fn no_number_escapes_the_canvas() {
    let extremes = [
        f64::MAX,
        -f64::MAX,
        1e300,
        -1e300,
        1e-320,
        0.0,
        -0.0,
        f64::NAN,
    ];
    let pairs = || extremes.iter().flat_map(|x| extremes.map(|y| (*x, y)));
    for kind in [
        Kind::Line,
        Kind::Steps,
        Kind::Dots,
        Kind::Area,
        Kind::Path,
        Kind::Reference,
    ] {
        let mut figure = figure(vec![vec![series("extreme", kind, pairs().collect())]]);
        for (low, high) in pairs().chain([(-1.0, 1.0), (1.0, -1.0)]) {
            figure.panels[0].y_range = Some((low, high));
            let svg = figure.to_svg().unwrap();
            assert!(
                !svg.contains("NaN") && !svg.contains("2147483"),
                "{low}..{high}"
            );
        }
    }
}

#[test]
fn eight_long_names_fit_in_the_legend() {
    let names: Vec<String> = (1..=8)
        .map(|n| format!("controller number {n} with a name"))
        .collect();
    let one = |name: &String| series(name, Kind::Line, vec![(0.0, 1.0), (1.0, 2.0)]);
    let svg = figure(vec![names.iter().map(one).collect()])
        .to_svg()
        .unwrap();
    for name in names {
        let (before, _) = svg.split_once(&name).expect("the name is whole");
        let (_, x) = before.rsplit_once("<text x=\"").unwrap();
        let left: usize = x.split('"').next().unwrap().parse().unwrap();
        let width = name.len() * 12 * 10 / 2; // half an em per letter
        assert!(left + width < 10_000, "{name} is within the canvas");
    }
}

#[test]
fn a_page_has_its_parts_in_order_and_its_axes_in_line() {
    let wide = |high| figure(vec![vec![series("a", Kind::Area, vec![(0.0, high)])]]);
    let page = Page {
        title: HOSTILE.into(),
        subtitle: String::new(),
        parts: vec![
            Part::Values(vec![("frames".into(), HOSTILE.into())]),
            Part::Heading(HOSTILE.into()),
            Part::Text("Why.".into()),
            Part::Figure(wide(1.0)),
            Part::Table(table()),
            Part::Figure(wide(123_456.0)),
        ],
    };
    let html = page.to_html().unwrap();
    let marks = [
        "<dt>frames",
        "<h2>&lt;b",
        "<p>Why",
        "<svg",
        "<table",
        "<svg",
    ];
    let mut rest = html.as_str();
    for mark in marks {
        rest = rest.split_once(mark).expect("the parts are in order").1;
    }
    assert!(!html.contains("<b>"));
    assert_eq!(html.matches("http").count(), 2, "only the SVGs' namespace");
    let axes: Vec<_> = html
        .split("<svg")
        .skip(1)
        .map(|svg| {
            let (_, grid) = svg.split_once("stroke=\"#E4E4E4\"").unwrap();
            let (_, points) = grid.split_once("points=\"").unwrap();
            points.split(',').next().unwrap()
        })
        .collect();
    assert_eq!(axes[0], axes[1]);
}

#[test]
fn a_path_leads_back_and_its_panels_are_square() {
    let there_and_back = vec![(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)];
    let one = || vec![series("way", Kind::Path, there_and_back.clone())];
    let svg = figure(vec![one(), one(), one()]).to_svg().unwrap();
    let ways: Vec<Vec<(f64, f64)>> = svg
        .match_indices("stroke=\"#0072B2\" stroke-width=\"15\" points=\"")
        .map(|(at, mark)| {
            let points = svg[at + mark.len()..].split('"').next().unwrap();
            let points = points.split_whitespace().map(|point| {
                let (x, y) = point.split_once(',').unwrap();
                (x.parse().unwrap(), y.parse().unwrap())
            });
            points.collect()
        })
        .collect();
    assert_eq!(ways.len(), 3);
    for way in &ways {
        assert_eq!((way.len(), way[0]), (5, way[4]), "it ends where it begins");
        let (across, up) = (way[1].0 - way[0].0, way[1].1 - way[2].1);
        // Zero and one, and what is left free above one.
        assert!(
            across > 0.0 && (0.8..=1.0).contains(&(up / across)),
            "{across} by {up}"
        );
    }
    assert!(ways[0][0].0 < ways[1][0].0 && ways[1][0].0 < ways[2][0].0);
    assert!((ways[0][0].1 - ways[2][0].1).abs() < 0.5, "in one row");
}
