//! Texts that lie in files.

use std::fs;
use std::path::Path;

/// The most bytes of a file.
const BYTES_MAX: u64 = 1 << 20;

/// The text of a file; nothing but plain files is read: a pipe would never end.
pub(crate) fn text_of(path: &Path) -> Result<String, String> {
    let about = path.symlink_metadata().map_err(|error| error.to_string())?;
    if !about.file_type().is_file() {
        return Err("not a plain file".into());
    }
    if about.len() > BYTES_MAX {
        return Err(format!(
            "{} bytes; at most {BYTES_MAX} are read",
            about.len()
        ));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

#[cfg(all(test, unix))]
#[test]
fn nothing_but_small_plain_files_is_read() {
    let folder = std::env::temp_dir().join(format!("commute-files-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name);
    let pipe = std::process::Command::new("mkfifo")
        .arg(path("pipe"))
        .status();
    assert!(pipe.unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", path("link")).unwrap();
    fs::File::create(path("long"))
        .unwrap()
        .set_len(BYTES_MAX + 1)
        .unwrap();
    fs::write(path("fine"), "text").unwrap();
    let read = |name: &str| text_of(&path(name));
    assert_eq!(read("pipe"), Err("not a plain file".into()));
    assert_eq!(read("link"), Err("not a plain file".into()));
    assert_eq!(
        read("long"),
        Err("1048577 bytes; at most 1048576 are read".into())
    );
    assert_eq!(read("fine"), Ok("text".into()));
    assert!(read("none").is_err());
    fs::remove_dir_all(&folder).unwrap();
}
