//! What every service and network of a project gets whatever the task asks for.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::api::{Network, SandboxError, Spec};
use crate::container::info::Info;
use crate::container::owner::{OWNER, Owner};

/// A project ready for the engine.
pub(super) struct Hardened {
    /// The Compose file in JSON.
    pub(super) project: String,
    /// Every service of it.
    pub(super) services: BTreeMap<String, Service>,
}

/// A service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Service {
    /// Its container's name.
    pub(super) container: String,
    /// Its image's handle.
    pub(super) image: String,
    /// Its user, when the project names one.
    pub(super) user: Option<String>,
    /// `PATH`, when the project sets it.
    pub(super) path: Option<String>,
}

/// Whether a service only waits; `entrypoint` is its image's.
fn idles(keys: &Map<String, Value>, entrypoint: bool) -> bool {
    let entrypoint = match keys.get("entrypoint") {
        None | Some(Value::Null) => entrypoint,
        Some(own) => own.as_array().is_none_or(|words| !words.is_empty()),
    };
    !entrypoint && keys.get("command") == Some(&json!(["sh", "-c", "sleep infinity"]))
}

/// Makes a project tighter; `entrypoint` says whether the image of `main` starts a program of its own.
pub(super) fn harden(
    project: &str,
    entrypoint: bool,
    name: &str,
    spec: &Spec,
    info: &Info,
    owner: &Owner,
) -> Result<Hardened, SandboxError> {
    let broken = || SandboxError::Lost("the Compose project is not JSON with services".to_owned());
    let mut file: Map<String, Value> = serde_json::from_str(project).map_err(|_| broken())?;
    let labels = json!({OWNER: owner.label()});
    let mut services = BTreeMap::new();
    let table = file.get_mut("services").and_then(Value::as_object_mut);
    for (service, keys) in table.ok_or_else(broken)? {
        let keys = keys.as_object_mut().ok_or_else(broken)?;
        let container = format!("{name}-{service}");
        let text = |key: &str| keys.get(key).and_then(Value::as_str).map(str::to_owned);
        services.insert(
            service.clone(),
            Service {
                container: container.clone(),
                image: text("image").ok_or_else(broken)?,
                path: keys
                    .get("environment")
                    .and_then(|env| env.get("PATH")?.as_str())
                    .map(|path| path.replace("$$", "$")),
                user: keys.get("user").and_then(|user| match user {
                    Value::Number(uid) => Some(uid.to_string()),
                    user => user.as_str().map(|text| text.replace("$$", "$")),
                }),
            },
        );
        if service == "main" && idles(keys, entrypoint) {
            // As root a container keeps the capabilities that root's commands in it are to have.
            keys.insert("user".to_owned(), json!("0:0"));
        }
        keys.insert("container_name".to_owned(), json!(container));
        keys.insert("labels".to_owned(), labels.clone());
        keys.insert("security_opt".to_owned(), json!(["no-new-privileges"]));
        keys.insert("pull_policy".to_owned(), json!("never"));
        // Kept short, and read only when the project does not start.
        let log = json!({"driver": "json-file", "options": {"max-size": "1m", "max-file": "1"}});
        keys.insert("logging".to_owned(), log);
        if spec.network == Network::None {
            // Names of services are still answered; nothing else is asked outside.
            keys.insert("dns".to_owned(), json!(["127.0.0.1"]));
        }
        limits(keys, spec, info, service == "main");
    }
    networks(&mut file, spec.network, &labels);
    if let Some(volumes) = file.get_mut("volumes").and_then(Value::as_object_mut) {
        for volume in volumes.values_mut() {
            *volume = json!({"labels": labels});
        }
    }
    Ok(Hardened {
        project: Value::Object(file).to_string(),
        services,
    })
}

fn networks(file: &mut Map<String, Value>, network: Network, labels: &Value) {
    let table = file.entry("networks").or_insert_with(|| json!({}));
    let Some(table) = table.as_object_mut() else {
        return;
    };
    table.entry("default").or_insert_with(|| json!({}));
    for keys in table.values_mut() {
        let internal = keys.get("internal").and_then(Value::as_bool).unwrap_or(false);
        *keys = json!({"labels": labels, "internal": internal});
        if let (Network::None, Some(keys)) = (network, keys.as_object_mut()) {
            keys.insert("internal".to_owned(), json!(true));
            // Not even the engine's machine is there.
            let alone = json!({"com.docker.network.bridge.inhibit_ipv4": "true"});
            keys.insert("driver_opts".to_owned(), alone);
        }
    }
}

/// Bounds: the trial's for `main`; for others their own memory and CPUs where they name them.
fn limits(keys: &mut Map<String, Value>, spec: &Spec, info: &Info, main: bool) {
    let own = |keys: &Map<String, Value>, name: &str| {
        let path = format!("/resources/limits/{name}");
        keys.get("deploy")
            .and_then(|deploy| deploy.pointer(&path))
            .is_some()
    };
    let limits = &spec.limits;
    if info.pids {
        forget(keys, "pids");
        keys.insert("pids_limit".to_owned(), json!(limits.pids));
    }
    if main {
        for key in ["mem_limit", "memswap_limit", "mem_reservation", "cpus", "restart"] {
            keys.remove(key);
        }
        forget(keys, "memory");
        forget(keys, "cpus");
        if let Some(cpus) = limits.cpus.filter(|_| info.cpus) {
            keys.insert("cpus".to_owned(), json!(format!("{cpus:.3}")));
        }
        if info.applies(false).storage {
            let size = json!({"size": limits.disk_bytes.to_string()});
            keys.insert("storage_opt".to_owned(), size);
        }
        if limits.gpus > 0 && info.gpus {
            let gpus = json!([{"driver": "nvidia", "count": limits.gpus, "capabilities": ["gpu"]}]);
            let deploy = keys.entry("deploy").or_insert_with(|| json!({}));
            if let Some(deploy) = deploy.as_object_mut() {
                let resources = deploy.entry("resources").or_insert_with(|| json!({}));
                if let Some(resources) = resources.as_object_mut() {
                    resources.insert("reservations".to_owned(), json!({"devices": gpus}));
                }
            }
        }
    }
    if info.memory && !keys.contains_key("mem_limit") && !own(keys, "memory") {
        let bytes = json!(limits.memory_bytes.to_string());
        keys.insert("mem_limit".to_owned(), bytes.clone());
        keys.insert("memswap_limit".to_owned(), bytes);
    }
}

/// Takes a limit out of `deploy`, where it would contradict the one beside it.
fn forget(keys: &mut Map<String, Value>, name: &str) {
    if let Some(deploy) = keys.get_mut("deploy") {
        for which in ["limits", "reservations"] {
            let table = deploy.pointer_mut(&format!("/resources/{which}"));
            if let Some(table) = table.and_then(Value::as_object_mut) {
                table.remove(name);
            }
        }
    }
}
