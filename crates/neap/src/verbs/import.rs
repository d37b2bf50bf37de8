//! `neap import`: a model file as a module in text.

use crate::apply;
use crate::cli::{DimFlag, Import};
use crate::drive;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::outputs::{self, Output};
use crate::report::{self, Source};
use crate::streams::Streams;
use crate::weights;
use neap_ir::Module;
use neap_ir::print::{PrintOptions, print};

/// Runs the verb.
///
/// # Errors
/// What is wrong, when it is not about a place in the input; the rest has been said.
pub(crate) fn run(request: &Import, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let written: Vec<_> = request.output.iter().cloned().collect();
    outputs::prepare(&[(&request.input, "the input")], &written)?;
    let input = Input::read(&request.input, streams)?;
    weights::spare(&input, &written)?;
    let module = input.module(&request.dims).and_then(|module| drive::valid(&module).map(|()| module));
    let module = match module.and_then(|module| bounded(&module, &request.dims).map(|()| module)) {
        Ok(module) => module,
        Err(failure) => {
            let source = Source { name: &input.name, text: input.text(), line: 0 };
            let text = report::text(&failure.diagnostics, source, streams.colour_err);
            streams.say(&text);
            return Ok(failure.exit);
        }
    };
    let text = print(&module, &PrintOptions::default());
    match &request.output {
        Some(path) => {
            outputs::write_all(&[Output { path: path.clone(), bytes: text.into_bytes() }])?;
            Ok(Exit::Done)
        }
        None => streams.deliver(&text),
    }
}

/// Whether the model has all the dimensions of which a size is given.
fn bounded(module: &Module, dims: &[DimFlag]) -> Result<(), Failure> {
    dims.iter().try_for_each(|dim| apply::dims::there(module, "--dim", &dim.name))
}
