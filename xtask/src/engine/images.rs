//! The engine's images, made of programs of this machine: bash with busybox, and the same with Python and GNU tools.

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};

use super::{Engine, program, succeeds};
use crate::say;

/// A root of bash and busybox: bash, coreutils' everyday programs, tar, gzip, find. No Python.
const BASH: &str = "gym-dataset-test/bash:1";
/// The same with this machine's Python, its standard library, and GNU's versions of the everyday programs.
pub(crate) const PYTHON: &str = "gym-dataset-test/python:1";

/// Both.
pub(super) const ALL: [&str; 2] = [BASH, PYTHON];

/// The distribution's Python: it and its library lie in places that are the same in every container.
pub(super) const SYSTEM_PYTHON: &str = "/usr/bin/python3";

/// Programs that replace busybox's in the image with Python; one that this machine lacks stays busybox's.
const GNU: &str = "basename cat chmod chown cmp comm cp cut date diff dirname env expr find grep gzip head id join ls mkdir \
    mktemp mv nohup od paste readlink realpath rm rmdir sed seq sha256sum sleep sort stat tail tar tee test timeout touch tr uniq wc xargs";

/// Parts of the standard library that tests do not need.
const LEFT_OUT: [&str; 8] = [
    "__pycache__",
    "config-",
    "dist-packages",
    "site-packages",
    "ensurepip",
    "idlelib",
    "lib2to3",
    "test",
];

/// Users beside root: the one that containers use for nobody, and an ordinary one.
const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\n\
    worker:x:1000:1000::/home/worker:/bin/bash\n\
    nobody:x:65534:65534::/nonexistent:/bin/sh\n";
const GROUP: &str = "root:x:0:\nworker:x:1000:\nnogroup:x:65534:\n";

/// Makes the images that the engine lacks.
pub(super) fn make(engine: &Engine) -> Result<()> {
    for (tag, fill) in [
        (BASH, None),
        (PYTHON, Some(add_python as fn(&Utf8Path) -> Result<()>)),
    ] {
        if succeeds(engine.docker()?.args(["image", "inspect", tag])) {
            continue;
        }
        let scratch = tempfile::Builder::new()
            .prefix("root-")
            .tempdir_in(&engine.folder)?;
        let top = Utf8Path::from_path(scratch.path()).context("a folder whose name is UTF-8")?;
        let top = top.join("root");
        bash_root(&top)?;
        if let Some(fill) = fill {
            fill(&top)?;
        }
        import(engine, &top, tag)?;
        say(&format!("# image {tag}"));
    }
    Ok(())
}

/// Lays out a root with /usr merged, as Debian's is, and bash and busybox in it.
fn bash_root(top: &Utf8Path) -> Result<()> {
    for folder in [
        "usr/bin",
        "usr/lib",
        "usr/lib64",
        "etc",
        "root",
        "app",
        "srv",
        "opt",
        "run",
        "home/worker",
        "usr/local/bin",
        "var/tmp",
        "tmp",
    ] {
        std::fs::create_dir_all(top.join(folder))?;
    }
    for (link, target) in [
        ("bin", "usr/bin"),
        ("sbin", "usr/bin"),
        ("lib", "usr/lib"),
        ("lib64", "usr/lib64"),
    ] {
        symlink(target, top.join(link))?;
    }
    std::fs::set_permissions(top.join("tmp"), std::fs::Permissions::from_mode(0o1777))?;
    std::os::unix::fs::chown(top.join("home/worker"), Some(1000), Some(1000))?;
    std::fs::write(top.join("etc/passwd"), PASSWD)?;
    std::fs::write(top.join("etc/group"), GROUP)?;
    let bin = top.join("usr/bin");
    for (name, source) in [
        ("bash", "bash-static"),
        ("busybox", "busybox"),
        ("init", "docker-init"),
    ] {
        // A machine without docker-init has containers that take ten seconds to stop.
        if let Some(source) = program(source) {
            std::fs::copy(source, bin.join(name))?;
        }
    }
    let applets = Command::new(bin.join("busybox")).arg("--list").output()?;
    for applet in String::from_utf8_lossy(&applets.stdout).lines() {
        let link = bin.join(applet);
        if !link.exists() {
            symlink("busybox", link)?;
        }
    }
    Ok(())
}

/// Adds the distribution's Python, GNU's programs, and every library that either is linked with.
fn add_python(top: &Utf8Path) -> Result<()> {
    let asked = Command::new(SYSTEM_PYTHON)
        .args([
            "-I",
            "-c",
            "import sysconfig; print(sysconfig.get_path('stdlib'))",
        ])
        .output()
        .with_context(|| format!("cannot start {SYSTEM_PYTHON}"))?;
    let library = Utf8PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim());
    ensure!(
        library.starts_with("/usr/") && library.is_dir(),
        "{SYSTEM_PYTHON} has its library in `{library}`"
    );
    let mut linked = BTreeSet::from([Utf8PathBuf::from(SYSTEM_PYTHON)]);
    copy_tree(&library, &inside(top, &library), &mut linked)?;
    copy_program(Utf8Path::new(SYSTEM_PYTHON), &top.join("usr/bin/python3"))?;
    for name in GNU.split_whitespace() {
        let Some(source) = program(name).filter(|path| !is_busybox(path)) else {
            continue;
        };
        copy_program(&source, &top.join("usr/bin").join(name))?;
        linked.insert(source);
    }
    for library in libraries(&linked)? {
        let place = inside(top, &library);
        std::fs::create_dir_all(place.parent().context("a library in a folder")?)?;
        std::fs::copy(&library, place)?;
    }
    Ok(())
}

/// Copies a program over a link of that name, not through it.
fn copy_program(source: &Utf8Path, place: &Utf8Path) -> Result<()> {
    if place.is_symlink() {
        std::fs::remove_file(place)?;
    }
    std::fs::copy(source, place).with_context(|| format!("cannot copy {source}"))?;
    Ok(())
}

fn is_busybox(path: &Utf8Path) -> bool {
    path.canonicalize_utf8()
        .is_ok_and(|real| real.file_name().is_some_and(|name| name.starts_with("busybox")))
}

/// Copies the standard library and notes its extension modules, which are linked with libraries of their own.
fn copy_tree(from: &Utf8Path, to: &Utf8Path, linked: &mut BTreeSet<Utf8PathBuf>) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in from.read_dir_utf8()? {
        let entry = entry?;
        let name = entry.file_name();
        if LEFT_OUT
            .iter()
            .any(|left| name == *left || (left.ends_with('-') && name.starts_with(left)))
        {
            continue;
        }
        let place = to.join(name);
        if entry.file_type()?.is_dir() {
            copy_tree(entry.path(), &place, linked)?;
        } else if entry.path().is_file() {
            std::fs::copy(entry.path(), &place)?;
            if entry.path().extension() == Some("so") {
                linked.insert(entry.path().to_owned());
            }
        }
    }
    Ok(())
}

/// Returns the libraries that `ldd` names for these programs and modules.
fn libraries(linked: &BTreeSet<Utf8PathBuf>) -> Result<BTreeSet<Utf8PathBuf>> {
    let out = Command::new(program("ldd").context("no `ldd`")?)
        .args(linked)
        .env("LC_ALL", "C")
        .output()?;
    Ok(named_by_ldd(&String::from_utf8_lossy(&out.stdout)))
}

/// Reads ldd's lines: `name => /path (address)` and `/path (address)`.
fn named_by_ldd(text: &str) -> BTreeSet<Utf8PathBuf> {
    text.lines()
        .filter(|line| line.starts_with(char::is_whitespace))
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')))
        .map(Utf8PathBuf::from)
        .collect()
}

/// Returns the place of an absolute path below a root.
fn inside(top: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    top.join(path.strip_prefix("/").unwrap_or(path))
}

/// Makes an image of a root. Owners are root's, but for home folders.
fn import(engine: &Engine, top: &Utf8Path, tag: &str) -> Result<()> {
    let mut tar = Command::new(program("tar").context("no `tar`")?)
        .args([
            "--create",
            "--numeric-owner",
            "--directory",
            top.as_str(),
            "--file=-",
            ".",
        ])
        .stdout(Stdio::piped())
        .spawn()?;
    let stream = tar.stdout.take().context("tar has no output")?;
    let mut docker = engine.docker()?;
    docker
        .args(["import", "--change", "WORKDIR /app", "--change"])
        .arg("ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    if top.join("usr/bin/init").exists() {
        // It passes signals on: `sleep` as process 1 would have to be killed after ten seconds.
        docker.args(["--change", r#"ENTRYPOINT ["/usr/bin/init", "--"]"#]);
    }
    let imported = docker
        .args(["-", tag])
        .stdin(stream)
        .stdout(Stdio::null())
        .status()?;
    ensure!(
        tar.wait()?.success() && imported.success(),
        "`docker import` of {tag} fails"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::named_by_ldd;

    #[test]
    fn libraries_are_read_from_both_kinds_of_lines() {
        let text = "/usr/bin/python3:\n\tlinux-vdso.so.1 (0x00007ffd)\n\tlibm.so.6 => /lib/x/libm.so.6 (0x00007f)\n\
            \tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n\tstatically linked\n";
        let found: Vec<String> = named_by_ldd(text).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["/lib/x/libm.so.6", "/lib64/ld-linux-x86-64.so.2"]);
    }
}
