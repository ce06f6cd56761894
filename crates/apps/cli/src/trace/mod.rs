//! `mimosa trace`: reads, describes, changes and makes traces of links.

mod args;
mod error;
mod figure;
mod files;
mod table;

use mimosa_trace::{EditError, Format, Model, ModelError, Statistics, Trace};

use crate::output::{Existing, Files, Output};
use crate::sim::{Plot, PlotFormat, Seeds};
use crate::terminal::print;
pub(crate) use args::Args;
use args::{Command, Convert, Cut, Generate, Inspect, Models, Scale};
use error::TraceCommandError;
use files::Input;
use table::Described;

pub(crate) fn run(args: &Args) -> Result<(), TraceCommandError> {
    match &args.command {
        Command::Inspect(args) => inspect(args),
        Command::Convert(args) => convert(args),
        Command::Cut(args) => cut(args),
        Command::Scale(args) => scale(args),
        Command::Generate(args) => generate(args),
        Command::Models(args) => models(args),
    }
}

fn inspect(args: &Inspect) -> Result<(), TraceCommandError> {
    let mut files = Files::default();
    for path in &args.files {
        files.reads("trace", path);
    }
    let create = |plot: &Plot| files.create(&plot.path, Existing::Replace);
    let plot = args.plot.as_ref().map(create).transpose()?;
    let inputs = args
        .files
        .iter()
        .map(|path| files::read(path))
        .collect::<Result<Vec<_>, _>>()?;
    let described = inputs
        .iter()
        .map(|input| describe(input, args))
        .collect::<Result<Vec<_>, _>>()?;
    let json = described.iter().map(table::json).collect::<Vec<_>>();
    let tables = if args.summary {
        let name = match described.len() {
            1 => "1 trace".to_owned(),
            count => format!("{count} traces"),
        };
        table::summaries(&[(name, described)])
    } else {
        table::tables(&described)
    };
    if let Some((output, plot)) = plot.zip(args.plot.as_ref()) {
        draw(output, plot.format, &inputs, &tables)?;
    }
    if args.json {
        let mut lines = String::new();
        for object in json {
            lines.push_str(&serde_json::to_string(&object)?);
            lines.push('\n');
        }
        return Ok(print(&lines)?);
    }
    Ok(print(&table::text(&tables, args.markdown))?)
}

fn describe(input: &Input, args: &Inspect) -> Result<Described, TraceCommandError> {
    let statistics = Statistics::of(&input.trace, args.floor);
    Ok(Described {
        name: input.name(),
        statistics: statistics.map_err(|source| TraceCommandError::TooLong {
            path: input.path.clone(),
            source,
        })?,
    })
}

fn draw(
    mut output: Output,
    format: PlotFormat,
    inputs: &[Input],
    tables: &[mimosa_plot::Table],
) -> Result<(), TraceCommandError> {
    let bytes = match format {
        PlotFormat::Svg => figure::over_time(inputs)?.to_svg()?.into_bytes(),
        PlotFormat::Png => figure::over_time(inputs)?.to_png()?,
        PlotFormat::Html => figure::page(inputs, tables)?.to_html()?.into_bytes(),
    };
    output.put(&bytes)?;
    Ok(output.finish()?)
}

fn convert(args: &Convert) -> Result<(), TraceCommandError> {
    let output = files::create(&args.output)?;
    let input = files::read(&args.input)?;
    let format = args.format.map_or(
        match input.format {
            Format::Mahimahi => Format::Rows,
            Format::Rows => Format::Mahimahi,
        },
        Format::from,
    );
    files::write(output, &input.trace, format)
}

fn cut(args: &Cut) -> Result<(), TraceCommandError> {
    let output = files::create(&args.output)?;
    let input = files::read(&args.input)?;
    let to = args.to.unwrap_or(input.trace.length);
    let part = changed(&input, input.trace.cut(args.from, to))?;
    files::write(output, &part, input.format)
}

fn scale(args: &Scale) -> Result<(), TraceCommandError> {
    let output = files::create(&args.output)?;
    let input = files::read(&args.input)?;
    let scaled = match (args.factor, args.mean) {
        (_, Some(mean)) => input.trace.scale_to(mean),
        (factor, None) => input.trace.scale(factor.unwrap_or(1.0)),
    };
    files::write(output, &changed(&input, scaled)?, input.format)
}

fn changed(input: &Input, result: Result<Trace, EditError>) -> Result<Trace, TraceCommandError> {
    result.map_err(|source| TraceCommandError::Edit {
        path: input.path.clone(),
        source,
    })
}

fn generate(args: &Generate) -> Result<(), TraceCommandError> {
    let model = model(&args.model, &args.set)?;
    let output = files::create(&args.output)?;
    let trace = model.generate(args.seed, args.duration, args.mean)?;
    files::write(output, &trace, args.format.into())
}

/// The model called `name`, with other values for some of its parameters.
fn model(name: &str, set: &[(String, String)]) -> Result<Model, ModelError> {
    let mut model = Model::named(name)?;
    for (key, value) in set {
        model.set(key, value)?;
    }
    Ok(model)
}

fn models(args: &Models) -> Result<(), TraceCommandError> {
    let mut names: Vec<&str> = args.names.iter().map(String::as_str).collect();
    if names.is_empty() {
        names = Model::NAMES.to_vec();
    }
    let configured = names.into_iter().map(|name| model(name, &args.set));
    let models = configured.collect::<Result<Vec<_>, _>>()?;
    let tables = match args.seeds {
        None => models.iter().map(table::parameters).collect(),
        Some(seeds) => {
            let group = |model| group(model, seeds, args);
            let groups = models.iter().map(group).collect::<Result<Vec<_>, _>>()?;
            table::summaries(&groups)
        }
    };
    Ok(print(&table::text(&tables, args.markdown))?)
}

/// The statistics of a model's traces, one for each seed.
fn group(
    model: &Model,
    Seeds(first, last): Seeds,
    args: &Models,
) -> Result<(String, Vec<Described>), TraceCommandError> {
    let mut described = Vec::new();
    for seed in first..=last {
        let trace = model.generate(seed, args.duration, None)?;
        described.push(Described {
            name: format!("{} {seed}", model.name()),
            statistics: Statistics::of(&trace, None)?,
        });
    }
    Ok((model.name().to_owned(), described))
}
