//! Every table and field of dataset.toml with what it is for, for the JSON Schema; a test holds it to what is read.

use serde_json::Value;

use super::known::{DOMAINS, LICENSES, MORE_DOMAINS, TYPES};
use crate::config::{ENVIRONMENT, Kind, TableKeys, document, may, must};

/// Returns the JSON Schema of a dataset.toml.
#[must_use]
pub fn dataset_schema() -> Value {
    document("dataset.toml", "A dataset of Harbor and NeMo Gym.", &ROOT)
}

pub(super) static ROOT: TableKeys = TableKeys {
    shown: "the top of dataset.toml",
    fields: &[
        may("schema_version", Kind::Text, "Version of the format."),
        must(
            "dataset",
            Kind::Table(&DATASET),
            "The dataset as a package: its name and what a registry shows.",
        ),
        may(
            "tasks",
            Kind::Tables(&TASK),
            "Published tasks by name and content hash.",
        ),
        may(
            "files",
            Kind::Tables(&FILE),
            "Files of the dataset by path and content hash.",
        ),
        may("metadata", Kind::Free, "Free-form data."),
        may(
            "gym",
            Kind::Table(&GYM),
            "What only NeMo Gym reads; publishing cuts it out.",
        ),
    ],
    legacy: &[],
};
pub(super) static DATASET: TableKeys = TableKeys {
    shown: "[dataset]",
    fields: &[
        must("name", Kind::OrgName, "The dataset's name, `org/name`."),
        may("version", Kind::Text, "The dataset's version."),
        may("description", Kind::Text, "One sentence for people."),
        may("authors", Kind::Tables(&AUTHOR), "Who wrote it."),
        may("keywords", Kind::Texts, "Words to find it by."),
    ],
    legacy: &[],
};
static AUTHOR: TableKeys = TableKeys {
    shown: "[[dataset.authors]]",
    fields: &[
        must("name", Kind::Text, "The author's name."),
        may("email", Kind::Text, "The author's address."),
    ],
    legacy: &[],
};
static TASK: TableKeys = TableKeys {
    shown: "[[tasks]]",
    fields: &[
        must("name", Kind::OrgName, "The task's package name, `org/name`."),
        must(
            "digest",
            Kind::Digest,
            "The task's content hash; `gym-dataset digest` prints it.",
        ),
    ],
    legacy: &[],
};
static FILE: TableKeys = TableKeys {
    shown: "[[files]]",
    fields: &[
        must("path", Kind::Text, "A file name beside dataset.toml."),
        may("digest", Kind::Digest, "The file's SHA-256."),
    ],
    legacy: &[],
};
pub(super) static GYM: TableKeys = TableKeys {
    shown: "[gym]",
    fields: &[
        may(
            "allowed_agents",
            Kind::Texts,
            "Agents that the dataset is made for.",
        ),
        may("defaults", Kind::Table(&DEFAULTS), "What holds for every task."),
        may(
            "domain",
            Kind::Words(&[&DOMAINS, &MORE_DOMAINS]),
            "What the tasks are about.",
        ),
        may("license", Kind::Words(&[&LICENSES]), "The dataset's licence."),
        may("source", Kind::Text, "Where the dataset comes from."),
        may("tasks", Kind::Named(&OVERRIDE), "Overrides by task id."),
        may("type", Kind::Words(&[&TYPES]), "What the dataset is for."),
        may("verified", Kind::Any, "Whether the dataset was verified."),
    ],
    legacy: &[],
};
pub(super) static DEFAULTS: TableKeys = TableKeys {
    shown: "[gym.defaults]",
    fields: &[
        may(
            "num_repeats",
            Kind::Whole(1, None),
            "How often a runner repeats each task.",
        ),
        may(
            "resource_multiplier",
            Kind::Positive(Some(1.0)),
            "What CPUs, memory and storage are multiplied by.",
        ),
        may(
            "timeout_multiplier",
            Kind::Positive(Some(1.0)),
            "What time limits are multiplied by.",
        ),
    ],
    legacy: &[],
};
static OVERRIDE: TableKeys = TableKeys {
    shown: "[gym.tasks.id]",
    fields: &[
        may(
            "environment",
            Kind::Table(&ENVIRONMENT),
            "Fields of `[environment]` that replace the task's own.",
        ),
        may(
            "verifier",
            Kind::Free,
            "`inputs` of the verifier: paths that a sidecar hands to it.",
        ),
    ],
    legacy: &[],
};

#[cfg(test)]
mod tests {
    use super::super::{known, manifest};
    use super::*;

    fn names(table: &TableKeys) -> Vec<&'static str> {
        let mut names: Vec<&str> = table.fields.iter().map(|f| f.name).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        assert_eq!(names(&ROOT), manifest::ROOT);
        assert_eq!(names(&DATASET), manifest::DATASET);
        assert_eq!(names(&GYM), known::GYM_KEYS);
        assert_eq!(names(&DEFAULTS), known::DEFAULTS);
    }
}
