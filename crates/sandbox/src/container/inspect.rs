//! Reads what `image inspect` says.

use std::time::Duration;

use serde_json::Value;

use crate::image::{ImageConfig, ImageHealthcheck};

/// Docker's defaults for a health check.
const INTERVAL: Duration = Duration::from_secs(30);
const START_INTERVAL: Duration = Duration::from_secs(5);
const RETRIES: u32 = 3;

/// Reads the answer for one image: its id with `sha256:` and its settings.
pub(super) fn parse(answer: &[u8]) -> Option<(String, ImageConfig)> {
    let value: Value = serde_json::from_slice(answer).ok()?;
    let image = value.as_array()?.first()?;
    let id = image.get("Id")?.as_str()?;
    let digits = id.strip_prefix("sha256:").unwrap_or(id);
    if digits.len() != 64 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let config = image.get("Config").unwrap_or(&Value::Null);
    let healthcheck = config
        .get("Healthcheck")
        .filter(|value| !value.is_null())
        .or_else(|| image.get("Healthcheck").or_else(|| image.get("HealthCheck")));
    let text = |name: &str| {
        config
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let config = ImageConfig {
        env: strings(config.get("Env"))
            .into_iter()
            .map(|pair| match pair.split_once('=') {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None => (pair, String::new()),
            })
            .collect(),
        user: text("User").map(str::to_owned),
        workdir: text("WorkingDir").map(Into::into),
        entrypoint: strings(config.get("Entrypoint")),
        healthcheck: healthcheck.and_then(read_healthcheck),
    };
    Some((format!("sha256:{digits}"), config))
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn read_healthcheck(value: &Value) -> Option<ImageHealthcheck> {
    let test = strings(value.get("Test"));
    let argv = match test.split_first()? {
        (kind, rest) if kind == "CMD" && !rest.is_empty() => rest.to_vec(),
        (kind, [command, ..]) if kind == "CMD-SHELL" => {
            vec!["/bin/sh".to_owned(), "-c".to_owned(), command.clone()]
        }
        _ => return None,
    };
    let duration = |name: &str, default: Duration| {
        let nanos = value.get(name).and_then(Value::as_u64).filter(|nanos| *nanos > 0);
        nanos.map_or(default, Duration::from_nanos)
    };
    let retries = value
        .get("Retries")
        .and_then(Value::as_u64)
        .filter(|retries| *retries > 0);
    Some(ImageHealthcheck {
        argv,
        interval: duration("Interval", INTERVAL),
        timeout: duration("Timeout", INTERVAL),
        start_period: duration("StartPeriod", Duration::ZERO),
        start_interval: duration("StartInterval", START_INTERVAL),
        retries: retries.map_or(RETRIES, |count| u32::try_from(count).unwrap_or(u32::MAX)),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse;

    #[test]
    fn dockers_and_podmans_words_are_read() {
        let id = "a".repeat(64);
        let docker = format!(
            r#"[{{"Id":"sha256:{id}","Config":{{"Env":["A=1=2","B="],"User":"app:app","WorkingDir":"/srv","Entrypoint":["/e","x"],
            "Healthcheck":{{"Test":["CMD-SHELL","exit 0"],"Interval":2000000000,"Retries":0}}}}}}]"#
        );
        let (digest, config) = parse(docker.as_bytes()).unwrap();
        assert_eq!(digest, format!("sha256:{id}"));
        assert_eq!(
            config.env,
            [("A".into(), "1=2".into()), ("B".into(), String::new())]
        );
        assert_eq!(config.user.as_deref(), Some("app:app"));
        assert_eq!(config.entrypoint, ["/e", "x"]);
        let check = config.healthcheck.unwrap();
        assert_eq!(check.argv, ["/bin/sh", "-c", "exit 0"]);
        assert_eq!(
            (check.interval, check.timeout, check.retries),
            (Duration::from_secs(2), Duration::from_secs(30), 3)
        );

        let podman = format!(
            r#"[{{"Id":"{id}","Config":{{"User":"","Entrypoint":null}},"Healthcheck":{{"Test":["CMD","a","b"],"Retries":7}}}}]"#
        );
        let (digest, config) = parse(podman.as_bytes()).unwrap();
        assert_eq!(digest, format!("sha256:{id}"));
        assert_eq!(
            (config.user, config.workdir, config.entrypoint.len()),
            (None, None, 0)
        );
        assert_eq!(config.healthcheck.unwrap().argv, ["a", "b"]);
    }

    #[test]
    fn a_disabled_check_is_none_and_garbage_is_no_image() {
        let id = "b".repeat(64);
        for test in [r#"["NONE"]"#, "[]", r#"["CMD"]"#, "null"] {
            let text = format!(r#"[{{"Id":"{id}","Config":{{"Healthcheck":{{"Test":{test}}}}}}}]"#);
            assert_eq!(parse(text.as_bytes()).unwrap().1.healthcheck, None);
        }
        for garbage in ["", "[]", "{}", "[{}]", r#"[{"Id":"short"}]"#, "[[]]"] {
            assert!(parse(garbage.as_bytes()).is_none(), "{garbage}");
        }
    }
}
