//! A dataset in a temporary folder, and short questions to what was loaded.

use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use findings::Level;

use crate::{ContractChoice, Dataset, LoadError, LoadOptions, Loads, Selection, Task, load};

pub(super) const TOML: &str = "[environment]\ndocker_image = \"debian:12\"\n";
pub(super) const TEST: &str = "echo 1 > /logs/verifier/reward.txt\n";

pub(super) struct Disk(tempfile::TempDir);

impl Disk {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.0.path()).unwrap()
    }

    pub(super) fn at(&self, path: &str) -> Utf8PathBuf {
        self.path().join(path)
    }

    pub(super) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let file = self.at(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
        self
    }

    pub(super) fn link(&self, path: &str, text: &str) -> &Self {
        let file = self.at(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        symlink(text, file).unwrap();
        self
    }

    pub(super) fn remove(&self, path: &str) -> &Self {
        std::fs::remove_file(self.at(path)).unwrap();
        self
    }

    /// A task that nothing is said of.
    pub(super) fn task(&self, folder: &str) -> &Self {
        self.write(&format!("{folder}/task.toml"), TOML)
            .write(&format!("{folder}/instruction.md"), "Do it.\n")
            .write(&format!("{folder}/environment/.keep"), "")
            .write(&format!("{folder}/tests/test.sh"), TEST)
            .write(&format!("{folder}/solution/solve.sh"), "true\n")
    }

    pub(super) fn load(&self, path: &str) -> Dataset {
        self.load_with(path, &LoadOptions::default()).unwrap()
    }

    pub(super) fn load_as(&self, path: &str, contract: crate::Contract) -> Dataset {
        let options = LoadOptions {
            contract: ContractChoice::Is(contract),
            selection: Selection::default(),
        };
        self.load_with(path, &options).unwrap()
    }

    pub(super) fn load_with(&self, path: &str, options: &LoadOptions) -> Result<Dataset, LoadError> {
        load(&self.at(path), options)
    }

    pub(super) fn pick(&self, task: &[&str], exclude: &[&str]) -> Result<Dataset, LoadError> {
        let own = |globs: &[&str]| globs.iter().map(|g| (*g).to_owned()).collect();
        let selection = Selection {
            task: own(task),
            exclude: own(exclude),
            only: None,
        };
        self.load_with(
            "",
            &LoadOptions {
                contract: ContractChoice::Auto,
                selection,
            },
        )
    }
}

/// Ends a chain of changes in a closure.
pub(super) fn done(_: &Disk) {}

/// Codes of errors and warnings, sorted.
pub(super) fn codes(dataset: &Dataset) -> Vec<&'static str> {
    let mut codes: Vec<&str> = dataset
        .findings
        .iter()
        .filter(|f| f.level != Level::Note)
        .map(|f| f.rule.code)
        .collect();
    codes.sort_unstable();
    codes
}

pub(super) fn message<'a>(dataset: &'a Dataset, code: &str) -> &'a str {
    let found = dataset.findings.iter().find(|f| f.rule.code == code);
    found
        .map(|f| f.message.as_str())
        .unwrap_or_else(|| panic!("no {code} in {:?}", dataset.findings))
}

/// Path below the folder and line of the finding of a code.
pub(super) fn place(disk: &Disk, dataset: &Dataset, code: &str) -> (String, usize) {
    let found = dataset.findings.iter().find(|f| f.rule.code == code).unwrap();
    let location = found.location.as_ref().unwrap();
    let path = location.path().strip_prefix(disk.path()).unwrap().to_string();
    (path, location.range().map_or(0, |(start, _)| start.line))
}

pub(super) fn ids(dataset: &Dataset) -> Vec<&str> {
    dataset.tasks.iter().map(|t| t.id.as_str()).collect()
}

pub(super) fn task<'a>(dataset: &'a Dataset, id: &str) -> &'a Task {
    dataset.tasks.iter().find(|t| t.id == id).unwrap()
}

pub(super) fn loads(gym: bool, harbor: bool, agentcompass: bool) -> Loads {
    Loads {
        gym,
        harbor,
        agentcompass,
    }
}

/// The codes of a good task after a change, and whether Gym and Harbor load it.
pub(super) fn changed(change: impl Fn(&Disk)) -> (Vec<&'static str>, bool, bool) {
    let disk = Disk::new();
    disk.task("t");
    change(&disk);
    let dataset = disk.load_as("t", crate::Contract::Gym);
    let loads = task(&dataset, "t").loads;
    (codes(&dataset), loads.gym, loads.harbor)
}
