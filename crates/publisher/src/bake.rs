//! A task.toml with the values that the dataset's `[gym]` makes of it.

use findings::Finding;
use task_model::config::{self, Environment, Field, Number, TaskToml};
use task_model::{Dataset, Task};
use toml_edit::{DocumentMut, Item, TableLike, Value};

use crate::rules;

/// The most bytes of a task.toml.
const MAX_TOML: u64 = 16 << 20;

/// Why the values could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the effective values cannot be written into this task.toml without changing something else")]
pub(crate) struct BakeFault;

/// The overrides of a dataset.toml.
#[derive(Debug, Default)]
pub(crate) struct Overrides(Option<DocumentMut>);

impl Overrides {
    /// Reads those of a loaded dataset.
    pub(crate) fn of(dataset: &Dataset) -> Self {
        Self(
            dataset
                .toml_source
                .as_ref()
                .and_then(|source| source.text().parse().ok()),
        )
    }

    fn environment(&self, id: &str) -> Option<&dyn TableLike> {
        let tasks = self.0.as_ref()?.get("gym")?.get("tasks")?;
        tasks.get(id)?.get("environment")?.as_table_like()
    }
}

/// Returns the new text, or `None` when the dataset changes nothing that Harbor reads.
pub(crate) fn task_toml(task: &Task, overrides: &Overrides) -> Result<Option<String>, BakeFault> {
    let (Some(declared), Some(effective)) = (&task.declared, &task.effective) else {
        return Ok(None);
    };
    let mut wanted = effective.clone();
    wanted.verifier.inputs.clear();
    if values(declared) == values(&wanted) {
        return Ok(None);
    }
    let bytes = task.tree.read("task.toml", MAX_TOML).map_err(|_| BakeFault)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| BakeFault)?;
    let mut document: DocumentMut = text.parse().map_err(|_| BakeFault)?;
    if let Some(environment) = overrides.environment(&task.id) {
        override_environment(&mut document, environment)?;
    }
    scale(&mut document, declared, &wanted)?;
    let mut baked = document.to_string();
    if text.contains("\r\n") {
        baked = baked.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    let read = config::read("task.toml", baked.as_bytes())
        .config
        .ok_or(BakeFault)?;
    if values(&read) == values(&wanted) {
        Ok(Some(baked))
    } else {
        Err(BakeFault)
    }
}

/// Returns the fault as a finding.
pub(crate) fn finding(task: &Task, fault: BakeFault) -> Finding {
    Finding::new(&rules::BAKE, fault.to_string())
        .help("write them by hand, and take them out of `[gym]`")
        .at_path(task.folder.join("task.toml"))
}

/// Returns a table of the document, made when missing.
fn table<'a>(parent: &'a mut dyn TableLike, name: &str) -> Result<&'a mut dyn TableLike, BakeFault> {
    let item = parent.entry(name).or_insert_with(toml_edit::table);
    item.as_table_like_mut().ok_or(BakeFault)
}

fn override_environment(document: &mut DocumentMut, new: &dyn TableLike) -> Result<(), BakeFault> {
    let environment = table(document.as_table_mut(), "environment")?;
    for (key, item) in new.iter() {
        match (key, item.as_table_like()) {
            // `env` merges by key; every other field replaces.
            ("env", Some(variables)) => {
                let env = table(environment, "env")?;
                for (name, value) in variables.iter() {
                    put(env, name, value.clone());
                }
            }
            _ => put(environment, key, item.clone()),
        }
        if let Some(legacy) = legacy(key) {
            environment.remove(legacy);
        }
    }
    Ok(())
}

/// Sets a key; a value that is there keeps its comment.
fn put(table: &mut dyn TableLike, key: &str, mut item: Item) {
    let decor = table
        .get(key)
        .and_then(Item::as_value)
        .map(|old| old.decor().clone());
    if let Item::Value(value) = &mut item {
        *value.decor_mut() = decor.unwrap_or_default();
    }
    table.insert(key, item);
}

/// Returns the older spelling that must go when a field is written.
fn legacy(key: &str) -> Option<&'static str> {
    match key {
        "memory_mb" => Some("memory"),
        "storage_mb" => Some("storage"),
        "network_mode" | "allowed_hosts" => Some("allow_internet"),
        _ => None,
    }
}

/// Writes the numbers that the multipliers change.
fn scale(document: &mut DocumentMut, old: &TaskToml, new: &TaskToml) -> Result<(), BakeFault> {
    let root: &mut dyn TableLike = document.as_table_mut();
    time(root, "agent", &old.agent.timeout_sec, &new.agent.timeout_sec)?;
    time(
        root,
        "verifier",
        &old.verifier.timeout_sec,
        &new.verifier.timeout_sec,
    )?;
    if values(&old.environment) != values(&new.environment) {
        resources(table(root, "environment")?, &old.environment, &new.environment);
    }
    if let (Some(old), Some(new)) = (&old.verifier.environment, &new.verifier.environment)
        && values(old) != values(new)
    {
        resources(table(table(root, "verifier")?, "environment")?, old, new);
    }
    for (index, (old, new)) in old.steps.iter().zip(&new.steps).enumerate() {
        if values(old) == values(new) {
            continue;
        }
        let step = step(root, index)?;
        time(step, "agent", &old.agent.timeout_sec, &new.agent.timeout_sec)?;
        time(
            step,
            "verifier",
            &old.verifier.timeout_sec,
            &new.verifier.timeout_sec,
        )?;
        if let (Some(old), Some(new)) = (&old.verifier.environment, &new.verifier.environment) {
            resources(table(table(step, "verifier")?, "environment")?, old, new);
        }
    }
    Ok(())
}

fn step(root: &mut dyn TableLike, index: usize) -> Result<&mut dyn TableLike, BakeFault> {
    let steps = root.get_mut("steps").ok_or(BakeFault)?;
    if let Item::ArrayOfTables(tables) = steps {
        return tables
            .get_mut(index)
            .map(|table| table as &mut dyn TableLike)
            .ok_or(BakeFault);
    }
    let inline = steps
        .as_array_mut()
        .and_then(|array| array.get_mut(index))
        .and_then(Value::as_inline_table_mut);
    inline.map(|table| table as &mut dyn TableLike).ok_or(BakeFault)
}

fn time(parent: &mut dyn TableLike, name: &str, old: &Field<f64>, new: &Field<f64>) -> Result<(), BakeFault> {
    let number = |field: &Field<f64>| field.as_ref().map(|spanned| spanned.value.to_bits());
    if let Some(seconds) = new
        && number(old) != number(new)
    {
        put(
            table(parent, name)?,
            "timeout_sec",
            toml_edit::value(seconds.value),
        );
    }
    Ok(())
}

fn resources(table: &mut dyn TableLike, old: &Environment, new: &Environment) {
    let fields = [
        ("cpus", &old.cpus, &new.cpus),
        ("memory_mb", &old.memory_mb, &new.memory_mb),
        ("storage_mb", &old.storage_mb, &new.storage_mb),
    ];
    for (key, old, new) in fields {
        let Some(number) = new else { continue };
        if old.as_ref().is_some_and(|old| values(old) == values(number)) {
            continue;
        }
        let item = match &number.value {
            Number::Int(int) => toml_edit::value(*int),
            other => toml_edit::value(other.as_f64()),
        };
        put(table, key, item);
        if let Some(legacy) = legacy(key) {
            table.remove(legacy);
        }
    }
}

/// Returns everything of a value but the places in the text it came from.
fn values(of: &impl std::fmt::Debug) -> String {
    let text = format!("{of:?}").replace("span: None", "span: Some()");
    let mut left = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("Span { start: ") {
        left.push_str(before);
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    left.push_str(rest);
    left
}
