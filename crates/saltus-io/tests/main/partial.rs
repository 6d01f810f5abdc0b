//! Files that appear whole or not at all.

use crate::sample::Folder;
use saltus_io::{WriteError, check_target, write_whole};
use std::path::Path;

#[test]
fn a_file_is_replaced_whole() {
    let folder = Folder::new();
    let path = folder.path("a.txt");
    write_whole(&path, b"a longer text").unwrap();
    write_whole(&path, b"text").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"text");
    assert_eq!(folder.names(), ["a.txt"]);
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = Folder::new();
    let error = |path: &Path| {
        let checked = check_target(path).unwrap_err();
        let error = write_whole(path, b"text").unwrap_err();
        assert_eq!(checked.to_string(), error.to_string());
        error
    };
    assert!(matches!(error(Path::new("..")), WriteError::NotAFileName { .. }));
    assert!(matches!(error(&folder.path("no/a.txt")), WriteError::NoFolder { .. }));
    assert!(matches!(error(folder.as_ref()), WriteError::Io { .. }));
    #[cfg(unix)]
    {
        assert!(matches!(error(Path::new("/dev/null")), WriteError::NotRegular { .. }));
        std::os::unix::fs::symlink("/dev/null", folder.path("device")).unwrap();
        assert!(matches!(error(&folder.path("device")), WriteError::NotRegular { .. }));
        assert_eq!(folder.names(), ["device"]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_followed() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("deep")).unwrap();
    std::fs::write(folder.path("deep/a.txt"), b"old").unwrap();
    std::os::unix::fs::symlink("deep/a.txt", folder.path("link")).unwrap();
    write_whole(folder.path("link"), b"new").unwrap();
    assert!(folder.path("link").is_symlink());
    assert_eq!(std::fs::read(folder.path("deep/a.txt")).unwrap(), b"new");
    assert_eq!(folder.names(), ["deep", "link"]);
}
