//! Which signature a Python verifier has, and the test.sh shim around it as a plan of files and modes.
//!
//! The shim is a test.sh, a runner, the helper package `nemo_gym.verifiers` and the task's fields; the Python files
//! that travel stand in `python/` of this crate. Nothing here runs Python. The parser is this crate's alone, so rules that
//! look at tests ask here what a module says ([`python_facts()`]).

mod answer;
mod api;
mod checks;
mod plan;
mod python_facts;
mod signature;
mod write;

pub mod rules;

pub use answer::answer_solve_sh;
pub use api::{PYTHON_FLOOR, ShimFile, ShimPlan, Signature};
pub use checks::{apply, checks};
pub use plan::plan;
pub use python_facts::{PythonConstant, PythonFacts, PythonReward, PythonShape, python_facts};
pub use signature::{MAX_SOURCE_BYTES, inspect};
pub use write::{WriteError, write};
