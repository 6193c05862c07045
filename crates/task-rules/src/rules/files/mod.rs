//! Files as a whole: what is said twice, leaks, or is used by nobody.

pub(crate) mod answer_in_environment;
pub(crate) mod missing_script_file;
