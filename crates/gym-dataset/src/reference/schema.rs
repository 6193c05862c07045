//! The JSON Schemas of every object on stdout, and of the files that people write.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use super::Page;
use crate::report::{
    DigestReport, ImageListReport, PublishReport, ReportLine, RewardReport, RulesObject, ValidateReport,
};

pub(super) fn pages() -> Vec<Page> {
    vec![
        written("task.schema.json", &task_model::config::task_schema()),
        written("dataset.schema.json", &task_model::dataset::dataset_schema()),
        page::<ValidateReport>("validate.schema.json"),
        page::<ReportLine>("validate-line.schema.json"),
        page::<DigestReport>("digest.schema.json"),
        page::<ImageListReport>("image-list.schema.json"),
        page::<PublishReport>("publish.schema.json"),
        page::<RewardReport>("reward.schema.json"),
        page::<RulesObject>("rule.schema.json"),
    ]
}

fn page<T: JsonSchema>(name: &'static str) -> Page {
    // As written: a field that is always there is required, also when it may be null.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    written(name, &schema)
}

fn written(name: &'static str, schema: &impl serde::Serialize) -> Page {
    let mut text = serde_json::to_string_pretty(schema).unwrap_or_default();
    text.push('\n');
    Page {
        name: name.to_owned(),
        text,
    }
}
