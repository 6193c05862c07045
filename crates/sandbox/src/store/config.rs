//! The settings in an image's configuration.

use std::time::Duration;

use serde::Deserialize;

use crate::image::{ImageConfig, ImageHealthcheck};

#[derive(Deserialize, Default)]
struct Document {
    config: Option<Settings>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Settings {
    env: Option<Vec<String>>,
    user: Option<String>,
    working_dir: Option<String>,
    entrypoint: Option<Vec<String>>,
    shell: Option<Vec<String>>,
    healthcheck: Option<Healthcheck>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Healthcheck {
    test: Option<Vec<String>>,
    interval: Option<i64>,
    timeout: Option<i64>,
    start_period: Option<i64>,
    start_interval: Option<i64>,
    retries: Option<i64>,
}

/// Reads the JSON of a configuration.
pub(super) fn settings(json: &[u8]) -> Result<ImageConfig, serde_json::Error> {
    let settings = serde_json::from_slice::<Document>(json)?
        .config
        .unwrap_or_default();
    let text = |text: Option<String>| text.filter(|text| !text.is_empty());
    let env = settings.env.unwrap_or_default();
    let shell = settings.shell;
    Ok(ImageConfig {
        env: env
            .iter()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        user: text(settings.user),
        workdir: text(settings.working_dir).map(Into::into),
        entrypoint: settings.entrypoint.unwrap_or_default(),
        healthcheck: settings.healthcheck.and_then(|check| healthcheck(check, shell)),
    })
}

/// With Docker's defaults: zero and nothing mean the same.
fn healthcheck(check: Healthcheck, shell: Option<Vec<String>>) -> Option<ImageHealthcheck> {
    let mut test = check.test.unwrap_or_default().into_iter();
    let argv: Vec<String> = match test.next()?.as_str() {
        "CMD" => test.collect(),
        "CMD-SHELL" => {
            let shell = shell.filter(|shell| !shell.is_empty());
            let mut argv = shell.unwrap_or_else(|| vec!["/bin/sh".to_owned(), "-c".to_owned()]);
            argv.push(test.collect::<Vec<_>>().join(" "));
            argv
        }
        _ => return None,
    };
    if argv.is_empty() {
        return None;
    }
    let time = |nanos: Option<i64>, default| {
        let nanos = nanos.and_then(|nanos| u64::try_from(nanos).ok()).unwrap_or(0);
        if nanos == 0 {
            Duration::from_secs(default)
        } else {
            Duration::from_nanos(nanos)
        }
    };
    let retries = check.retries.and_then(|count| u32::try_from(count).ok());
    Some(ImageHealthcheck {
        argv,
        interval: time(check.interval, 30),
        timeout: time(check.timeout, 30),
        start_period: time(check.start_period, 0),
        start_interval: time(check.start_interval, 5),
        retries: retries.filter(|count| *count > 0).unwrap_or(3),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::settings;
    use crate::image::ImageConfig;

    #[test]
    fn settings_are_read_with_dockers_defaults() {
        let json = br#"{"architecture":"amd64","config":{"Env":["PATH=/bin","A=b=c","odd"],"User":"app:1","WorkingDir":"/srv/x",
            "Entrypoint":["/in.sh"],"Cmd":["x"],"Healthcheck":{"Test":["CMD-SHELL","exit 0"],"Interval":1500000000,"Retries":0}}}"#;
        let found = settings(json).unwrap();
        assert_eq!(
            found.env,
            [("PATH".into(), "/bin".into()), ("A".into(), "b=c".into())]
        );
        assert_eq!(found.user.as_deref(), Some("app:1"));
        assert_eq!(found.workdir.as_deref(), Some("/srv/x".into()));
        assert_eq!(found.entrypoint, ["/in.sh"]);
        let check = found.healthcheck.unwrap();
        assert_eq!(check.argv, ["/bin/sh", "-c", "exit 0"]);
        let second = Duration::from_secs(1);
        assert_eq!(
            (
                check.interval,
                check.timeout,
                check.start_period,
                check.start_interval,
                check.retries
            ),
            (second * 3 / 2, second * 30, Duration::ZERO, second * 5, 3)
        );
    }

    #[test]
    fn nothing_is_set_by_null_empty_or_absent() {
        for json in [
            "{}",
            r#"{"config":null}"#,
            r#"{"config":{}}"#,
            r#"{"config":{"Env":null,"User":"","WorkingDir":"","Entrypoint":null,"Healthcheck":{"Test":["NONE"]}}}"#,
            r#"{"config":{"Healthcheck":{"Test":[],"Interval":-1}}}"#,
        ] {
            assert_eq!(
                settings(json.as_bytes()).unwrap(),
                ImageConfig::default(),
                "{json}"
            );
        }
        assert!(settings(b"[]").is_err());
    }
}
