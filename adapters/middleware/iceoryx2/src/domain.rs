//! The domain of iceoryx2 that all runs of this adapter share, apart from other programs of the user: its files, and who removes them.

use std::error::Error;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};

use iceoryx2::node::NodeState;
use iceoryx2::prelude::*;
use iceoryx2::service::ipc_threadsafe::Service;
use iceoryx2::testing::remove_global_mgmt_segment;

/// Its folder, with the user's number behind it. Sockets are in it, and the path of one may have 107 bytes, so it is short and always here.
pub const ROOT: &str = "/dev/shm/chronoseal-iceoryx2-";
/// What its shared memory is called, beside the folder.
const PREFIX: &str = "chronoseal_";

type Failure = Box<dyn Error>;

unsafe extern "C" {
    /// Of the C library. `/proc` may be that of another process namespace, so it is not asked.
    safe fn geteuid() -> u32;
}

/// The domain.
pub struct Domain {
    root: String,
    settings: Config,
}

impl Domain {
    /// Makes its folder.
    pub fn open() -> Result<Self, Failure> {
        let root = format!("{ROOT}{}", geteuid());
        let mut settings = Config::default();
        let wrong = |error: SemanticStringError| format!("{error:?}");
        settings.global.prefix = FileName::new(PREFIX.as_bytes()).map_err(wrong)?;
        settings.global.set_root_path(&Path::new(root.as_bytes()).map_err(wrong)?);
        Ok(Self { root, settings })
    }

    /// A node of it. With that, the library removes what processes that were killed have left.
    pub fn node(&self) -> Result<Node<Service>, Failure> {
        let _lock = self.lock()?;
        let builder = NodeBuilder::new().config(&self.settings).signal_handling_mode(SignalHandlingMode::Disabled);
        Ok(builder.create::<Service>()?)
    }

    /// Removes what the library keeps for the next process of a domain, if there is no process in it.
    pub fn tidy(&self) -> Result<(), Failure> {
        let _lock = self.lock()?;
        let mut count = 0;
        Node::<Service>::list(&self.settings, |_: NodeState<Service>| {
            count += 1;
            CallbackProgression::Continue
        })?;
        if count == 0 {
            // SAFETY: who makes a node holds the lock, so nobody is in the domain.
            unsafe { remove_global_mgmt_segment::<Service>(&self.settings)? };
            std::fs::remove_dir_all(&self.root)?;
        }
        Ok(())
    }

    /// The folder, which nobody else makes or removes as long as it is held.
    fn lock(&self) -> Result<File, Failure> {
        loop {
            match DirBuilder::new().mode(0o700).create(&self.root) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error.into()),
                _ => {}
            }
            // Who was here before may remove it at any time, until it is locked.
            let Ok(known) = std::fs::symlink_metadata(&self.root) else { continue };
            if !known.is_dir() || known.uid() != geteuid() {
                return Err("it is no folder of this user's: remove it".into());
            }
            let Ok(folder) = File::open(&self.root) else { continue };
            folder.lock()?;
            if std::fs::metadata(&self.root).is_ok_and(|now| now.ino() == known.ino()) {
                return Ok(folder);
            }
        }
    }
}
