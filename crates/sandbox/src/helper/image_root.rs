//! The root of a sandbox that starts from an image: its unpacked files below, what is written in memory above.
//!
//! The image's folders and links are somebody else's, and the host's root is still there while this runs: nothing of
//! the image is reached by a path, only through descriptors that refuse links.

use std::ffi::CString;
use std::fs;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};

use camino::Utf8Path;
use rustix::fs::{FileType, Gid, Mode, OFlags, Uid};
use rustix::mount::MountFlags;

use super::setup::STAGE;
use super::{Done, files, step, step_at};
use crate::wire::{Fault, Start};

/// As in Docker.
const SHARED_MEMORY: &str = "mode=0755,size=64m,nr_inodes=65536";

/// Mounts the image at [`STAGE`] and prepares the folders that everything else goes into. `image` is its folder.
pub(super) fn mount(image: &OwnedFd, start: &Start) -> Done {
    let options = format!(
        "mode=0700,size={},nr_inodes=524288",
        start.disk_bytes.max(1 << 20)
    );
    let options = CString::new(options).unwrap_or_default();
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount("sandbox", STAGE, "tmpfs", flags, &*options).map_err(step_at("tmpfs"))?;
    let stage = Utf8Path::new(STAGE);
    for name in ["upper", "work"] {
        fs::create_dir(stage.join(name)).map_err(step("tmpfs"))?;
    }
    // The root folder's own mode and owner are those of the upper one.
    let stat = rustix::fs::fstat(image).map_err(step_at("image"))?;
    rustix::fs::chmod(
        stage.join("upper").as_str(),
        Mode::from_raw_mode(stat.st_mode & 0o7777),
    )
    .map_err(step_at("image"))?;
    // Without the right to this owner the image would not be shown either.
    let owner = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
    rustix::fs::chown(stage.join("upper").as_str(), Some(owner.0), Some(owner.1))
        .map_err(step_at("image"))?;
    let layers = format!(
        "userxattr,lowerdir=/proc/self/fd/{},upperdir={STAGE}/upper,workdir={STAGE}/work",
        image.as_raw_fd()
    );
    let layers = CString::new(layers).unwrap_or_default();
    rustix::mount::mount("image", STAGE, "overlay", flags, &*layers).map_err(step_at("overlay"))
}

/// Makes the folders that a sandbox needs whatever the image has, and the files of `/etc` that are of this machine.
pub(super) fn furnish(root: &OwnedFd, start: &Start) -> Done {
    let made = |name: &'static str| files::make_folder(root, name).map_err(step_at(name));
    let (devices, _) = made("dev")?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let options = CString::new(SHARED_MEMORY).unwrap_or_default();
    rustix::mount::mount("dev", files::own_path(&devices), "tmpfs", flags, &*options)
        .map_err(step_at("dev"))?;
    made("proc")?;
    if made_if_absent(root, "tmp")? {
        let folder = files::open_as_is(root, "tmp").map_err(step_at("tmp"))?;
        rustix::fs::chmod(files::own_path(&folder), Mode::from_raw_mode(0o1777)).map_err(step_at("tmp"))?;
    }
    let (etc, _) = made("etc")?;
    let resolver = if start.host_network {
        fs::read("/etc/resolv.conf").unwrap_or_default()
    } else {
        Vec::new()
    };
    for (name, text) in [
        ("hostname", b"sandbox\n".as_slice()),
        ("hosts", b"127.0.0.1 localhost sandbox\n::1 localhost\n"),
        ("resolv.conf", &resolver),
    ] {
        let said = |error| Fault::Setup {
            step: format!("/etc/{name}"),
            errno: super::errno(&error),
        };
        // A folder of that name is the image's own trouble.
        let Ok(mut file) = files::create(&etc, name) else {
            continue;
        };
        file.write_all(text).map_err(said)?;
        files::own_file(&file, (Uid::ROOT, Gid::ROOT), 0o644).map_err(|error| said(error.into()))?;
    }
    Ok(())
}

/// Makes a folder where there is nothing; a link stays. `true`: it was made.
fn made_if_absent(root: &OwnedFd, name: &'static str) -> Done<bool> {
    match rustix::fs::mkdirat(root, name, Mode::from_raw_mode(0o755)) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::EXIST) => Ok(false),
        Err(error) => Err(step_at(name)(error)),
    }
}

/// Reads a file of the finished root, which this process now has as its own: links lead inside. Bounded, and only
/// from a regular file.
pub(super) fn text(path: &str) -> String {
    use std::io::Read as _;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let Ok(opened) = rustix::fs::open(path, flags, Mode::empty()) else {
        return String::new();
    };
    let is_file =
        rustix::fs::fstat(&opened).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
    let mut bytes = Vec::new();
    if is_file && !files::is_proc(&opened) {
        // What cannot be read names nobody.
        drop(fs::File::from(opened).take(1 << 20).read_to_end(&mut bytes));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
