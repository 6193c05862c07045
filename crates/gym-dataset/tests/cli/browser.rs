//! Headless Chromium that opens a page. Without one the tests are skipped by name; CI has it.

use std::process::{Command, Stdio};

use camino::Utf8Path;

/// What a browser made of a page.
pub(crate) struct Opened {
    pub(crate) dom: String,
}

impl Opened {
    /// Returns an attribute of the root element.
    pub(crate) fn root(&self, name: &str) -> &str {
        let head = self.dom.split('>').nth(1).unwrap();
        let value = head.split(&format!(" {name}=\"")).nth(1);
        value
            .unwrap_or_else(|| panic!("no {name} in {head}"))
            .split('"')
            .next()
            .unwrap()
    }

    pub(crate) fn millis(&self, name: &str) -> f64 {
        self.root(name).parse().unwrap()
    }

    /// Returns the text of the element with an id, up to the next element.
    pub(crate) fn text_of(&self, id: &str) -> &str {
        let rest = self.dom.split(&format!("id=\"{id}\"")).nth(1).unwrap();
        let rest = rest.split_once('>').unwrap().1;
        rest.split('<').next().unwrap()
    }
}

pub(crate) fn browser(test: &str) -> Option<&'static str> {
    let found = [
        "/usr/bin/chromium",
        "/usr/bin/chromium-browser",
        "/usr/bin/google-chrome",
    ];
    let found = found.into_iter().find(|p| Utf8Path::new(p).exists());
    #[expect(
        clippy::disallowed_methods,
        reason = "whether this is CI is known to the environment"
    )]
    let ci = std::env::var("CI").is_ok_and(|v| v == "true");
    assert!(found.is_some() || !ci, "CI has a Chromium");
    if found.is_none() {
        println!("skipped by name: {test} needs Chromium");
    }
    found
}

pub(crate) fn open(browser: &str, page: &Utf8Path, fragment: &str) -> Opened {
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new("timeout");
    command
        .args([
            "120",
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args([
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .args(["--disable-sync", "--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().to_str().unwrap()))
        .arg(format!("file://{page}#{fragment}"))
        .stdin(Stdio::null());
    let out = command.output().unwrap();
    let dom = String::from_utf8(out.stdout).unwrap();
    assert!(
        dom.contains("data-ready="),
        "the script came to its end: {}\n{}",
        dom.get(..600).unwrap_or(&dom),
        String::from_utf8_lossy(&out.stderr)
    );
    let start = dom.find("<html").unwrap();
    Opened {
        dom: format!(">{}", dom.get(start..).unwrap()),
    }
}

/// Returns the page without its policy and with one more script, to act on it.
pub(crate) fn with_script(page: &Utf8Path, script: &str) -> camino::Utf8PathBuf {
    let text = std::fs::read_to_string(page).unwrap();
    let text = text.replacen("http-equiv=\"Content-Security-Policy\"", "name=\"was-policy\"", 1);
    let text = text.replacen("</body>", &format!("<script>{script}</script></body>"), 1);
    let path = page.with_file_name("acting.html");
    std::fs::write(&path, text).unwrap();
    path
}
