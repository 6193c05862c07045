//! The settings that a stage builds up: ENV, ARG, WORKDIR, USER.

use parse_dockerfile::Instruction;

use crate::Dockerfile;
use crate::dockerfile::is_empty;
use crate::layer::ImageSettings;
use crate::variables::{Value, Variables};
use crate::words::{self, Escape, Found};

/// What docker puts on PATH when an image says nothing.
pub(crate) const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The longest path that Linux takes, bytes.
const MAX_PATH: usize = 4096;

/// Variables that docker sets for every build without being asked, so that a file does not tell their values.
pub(crate) const PREDEFINED: [&str; 20] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "FTP_PROXY",
    "ftp_proxy",
    "NO_PROXY",
    "no_proxy",
    "ALL_PROXY",
    "all_proxy",
    "TARGETPLATFORM",
    "TARGETOS",
    "TARGETARCH",
    "TARGETVARIANT",
    "TARGETSTAGE",
    "BUILDPLATFORM",
    "BUILDOS",
    "BUILDARCH",
    "BUILDVARIANT",
    "SOURCE_DATE_EPOCH",
];

/// Build arguments that have a default; one without is as good as not declared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments(Variables);

impl Arguments {
    /// Takes an ARG that stands before the first FROM.
    pub(crate) fn declare_global(&mut self, text: &str, escape: Escape) {
        for word in words::split(text, escape) {
            if let Some((name, value)) = words::assignment(&word) {
                let value = self.expand(value, escape);
                self.0.set(name, value);
            }
        }
    }

    /// Fills variables into a FROM's image.
    pub(crate) fn expand(&self, text: &str, escape: Escape) -> Value {
        words::expand(text, escape, &|name| {
            let predefined = PREDEFINED.contains(&name);
            self.0
                .get(name)
                .unwrap_or(if predefined { Found::Unknown } else { Found::Unset })
        })
    }
}

/// The settings of one stage so far. A later stage built on it inherits them all, build arguments too.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    image: Value,
    /// Whether nothing is below the stage, so that what the file does not set is not set.
    scratch: bool,
    env: Variables,
    args: Variables,
    workdir: Value,
    user: Option<String>,
    no_entrypoint: bool,
}

impl Settings {
    /// Starts on an image that nobody has read.
    pub(crate) fn of_image(image: Value) -> Self {
        let scratch = image.as_deref() == Some("scratch");
        Self {
            image,
            scratch,
            env: Variables::default(),
            args: Variables::default(),
            workdir: None,
            user: None,
            no_entrypoint: false,
        }
    }

    /// Starts on an image whose settings are known, so that what neither sets is not set.
    pub(crate) fn of_known(base: &ImageSettings) -> Self {
        let mut env = Variables::default();
        for (name, value) in &base.env {
            env.set(name, Some(value.clone()));
        }
        Self {
            scratch: true,
            env,
            workdir: base.workdir.as_deref().map(clean),
            user: base.user.clone(),
            ..Self::of_image(None)
        }
    }

    /// Returns ENV as it stands, as far as it is determined.
    pub(crate) fn env(&self) -> &Variables {
        &self.env
    }

    /// Returns what a RUN sees beside the image's ENV: build arguments, which ENV hides.
    pub(crate) fn arguments(&self) -> &Variables {
        &self.args
    }

    /// Returns the working directory as it stands.
    pub(crate) fn workdir(&self) -> Option<&str> {
        self.workdir.as_deref()
    }

    /// Takes one instruction into account.
    pub(crate) fn apply(&mut self, instruction: &Instruction<'_>, global: &Arguments, escape: Escape) {
        match instruction {
            Instruction::Env(env) => self.apply_env(&env.arguments.value, escape),
            Instruction::Arg(arg) => self.apply_arg(&arg.arguments.value, global, escape),
            Instruction::Workdir(workdir) => self.apply_workdir(&workdir.arguments.value, escape),
            Instruction::User(user) => self.user = Some(user.arguments.value.to_string()),
            Instruction::Entrypoint(entrypoint) => self.no_entrypoint = is_empty(&entrypoint.arguments),
            _ => {}
        }
    }

    /// Writes what is determined into the result.
    pub(crate) fn fill(self, dockerfile: &mut Dockerfile) {
        dockerfile.image = self.image;
        dockerfile.workdir = self.workdir;
        dockerfile.user = self.user;
        dockerfile.no_entrypoint = self.no_entrypoint;
        dockerfile.env = self.env.determined();
    }

    fn apply_env(&mut self, text: &str, escape: Escape) {
        let words = words::split(text, escape);
        let first_is_name = words
            .first()
            .is_some_and(|word| words::assignment(word).is_none());
        // `ENV name the whole rest`, the older form.
        let pairs: Vec<(String, String)> = if first_is_name {
            let text = text.trim_start();
            let name_end = text.find([' ', '\t']).unwrap_or(text.len());
            let (name, rest) = text.split_at(name_end);
            vec![(name.to_owned(), rest.trim_start().to_owned())]
        } else {
            let pairs = words.iter().filter_map(|word| words::assignment(word));
            pairs
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect()
        };
        // All values of one instruction see the variables from before it.
        let values: Vec<(Value, Value)> = pairs
            .iter()
            .map(|(name, value)| (self.expand(name, escape), self.expand(value, escape)))
            .collect();
        for (name, value) in values {
            match name {
                Some(name) => self.env.set(&name, value),
                // It may be any of them.
                None => self.env.forget(),
            }
        }
    }

    fn apply_arg(&mut self, text: &str, global: &Arguments, escape: Escape) {
        for word in words::split(text, escape) {
            if let Some((name, value)) = words::assignment(&word) {
                let value = self.expand(value, escape);
                self.args.set(name, value);
            } else {
                match global.0.get(&word) {
                    Some(Found::Set(value)) => self.args.set(&word, Some(value.to_owned())),
                    Some(_) => self.args.set(&word, None),
                    None if PREDEFINED.contains(&word.as_str()) => self.args.set(&word, None),
                    None => {}
                }
            }
        }
    }

    fn apply_workdir(&mut self, text: &str, escape: Escape) {
        let next = self.expand(text, escape);
        self.workdir = next.filter(|next| !next.is_empty()).and_then(|next| {
            if next.starts_with('/') {
                return Some(clean(&next));
            }
            let current = match &self.workdir {
                Some(current) => current.as_str(),
                None if self.scratch => "/",
                None => return None,
            };
            Some(clean(&format!("{current}/{next}"))).filter(|path| path.len() <= MAX_PATH)
        });
    }

    pub(crate) fn expand(&self, text: &str, escape: Escape) -> Value {
        words::expand(text, escape, &|name| {
            // ENV wins over ARG; what neither sets, the image below may.
            match self.env.get(name).or_else(|| self.args.get(name)) {
                Some(found) => found,
                None if !self.scratch => Found::Unknown,
                None if name == "PATH" => Found::Set(DEFAULT_PATH),
                None => Found::Unset,
            }
        })
    }
}

/// Returns an absolute path without `.`, `..`, doubled and trailing slashes.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
