//! The rules of the house that the compiler does not check.
//!
//! | module | rule |
//! |---|---|
//! | [`architecture`] | which crate may use which, and which may touch files, sockets, clocks, threads, programs |
//! | [`errors`] | no public `Result<_, String>` in a library |
//! | [`kinds`] | which files may name a kind of segment |
//! | [`manifests`] | every crate inherits the workspace's fields and lints and says what it is |
//! | [`text`] | length of files, blanks at line ends, tabs, words that do not belong here |
//! | [`named_tests`] | tests that the table of test purposes names are there |
//! | [`links`] | relative links in Markdown lead somewhere |
//!
//! Each takes the files and gives back findings; none writes anything.

mod architecture;
mod errors;
mod kinds;
mod links;
mod manifests;
mod named_tests;
mod text;

use std::path::Path;

use crate::finding::Finding;
use crate::{Failure, TaskResult, process};

/// A file of the project that can be read as text.
#[derive(Clone, Debug)]
struct File {
    /// From the root, with `/`.
    path: String,
    text: String,
}

impl File {
    /// The crate's folder name, if the file belongs to a crate of the workspace.
    fn crate_name(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    fn has_extension(&self, extensions: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
    }

    #[cfg(test)]
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

pub(crate) fn run(root: &Path) -> TaskResult {
    let files = read_files(root)?;
    let mut findings = check(&files, root);
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!("tidy: {} files, nothing found", files.len());
        Ok(())
    } else {
        println!("tidy: {} findings", findings.len());
        Err(Failure::CheckFailed)
    }
}

fn check(files: &[File], root: &Path) -> Vec<Finding> {
    let mut findings = architecture::check(files);
    findings.extend(errors::check(files));
    findings.extend(kinds::check(files));
    findings.extend(manifests::check(files));
    findings.extend(named_tests::check(files));
    findings.extend(text::check(files));
    findings.extend(links::check(files, &|path| root.join(path).exists()));
    findings
}

/// Every text file that is committed or would be. Files that are no UTF-8 (captures, recordings) are left out.
fn read_files(root: &Path) -> Result<Vec<File>, Failure> {
    let list = process::output(root, &["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let mut files = Vec::new();
    for path in list.split('\0').filter(|path| !path.is_empty()) {
        // A file deleted but not yet committed is listed and absent.
        let Ok(bytes) = std::fs::read(root.join(path)) else { continue };
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(File { path: path.into(), text });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    Ok(files)
}
