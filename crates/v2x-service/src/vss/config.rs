//! What a station's daemon is told: a TOML file.

use std::path::{Path, PathBuf};

use chronoseal_v2x::coer::Rules;
use chronoseal_v2x::pipeline::{CERTIFICATES_PER_SECOND, Engine, PipelineConfig, QUEUE_LEN};
use chronoseal_v2x::vss::{ChangePolicy, DemandPolicy, PoolConfig, Preset};
use serde::Deserialize;

use super::misbehaviour::Misbehaviour;
use super::{ConfigError, VssError};
use crate::hsm::BackEnd;

/// The configuration of a station. `docs/reference/vss-configuration.md` names for each entry the attribute of the
/// source it stands for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VssConfig {
    /// The station's folder, as `chronoseal pki` makes it: in `at` its tickets, each with a `.meta` that names its keys,
    /// and the state.
    pub folder: PathBuf,
    /// Where private keys are.
    pub hsm: BackEnd,
    /// File that holds the PIN of the HSM; its first line is taken.
    pub pin_file: PathBuf,
    /// Whom to trust.
    #[serde(default)]
    pub trust: Trust,
    /// Pseudonyms.
    #[serde(default)]
    pub pseudonyms: Pseudonyms,
    /// Where more pseudonyms come from; none: from nowhere.
    #[serde(default)]
    pub authority: Option<Authority>,
    /// Whom misbehaviour is reported to; none: it is not looked for.
    #[serde(default)]
    pub misbehaviour: Option<Misbehaviour>,
    /// Verification on demand.
    #[serde(default)]
    pub verification: Verification,
    /// Logging.
    #[serde(default)]
    pub logging: Logging,
    /// Trust lists and revocation lists.
    #[serde(default)]
    pub lists: Lists,
    /// The daemon's socket.
    #[serde(default)]
    pub socket: Socket,
}

/// Trust lists and revocation lists, and where they come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lists {
    /// Files of lists: of any kind, full or of changes; read at the start and at each refresh, in this order.
    pub files: Vec<PathBuf>,
    /// Addresses of distribution centres, asked for the lists of every root that is trusted.
    pub centres: Vec<String>,
    /// Address of the trust list manager's list.
    pub ectl: Option<String>,
    /// Time from one refresh to the next `[s]`.
    pub refresh_s: u64,
    /// What becomes of messages under a root whose list should have been replaced: `warn` or `refuse`.
    pub overdue: String,
}

impl Default for Lists {
    fn default() -> Self {
        Self { files: Vec::new(), centres: Vec::new(), ectl: None, refresh_s: 3600, overdue: "warn".into() }
    }
}

impl Lists {
    /// Whether messages are refused under a root whose list is overdue.
    ///
    /// # Errors
    /// [`ConfigError::Overdue`] for a word that is none.
    pub fn refuses_overdue(&self) -> Result<bool, ConfigError> {
        match self.overdue.as_str() {
            "warn" => Ok(false),
            "refuse" => Ok(true),
            found => Err(ConfigError::Overdue { found: found.to_owned() }),
        }
    }
}

/// The daemon's socket.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Socket {
    /// Users of this host who may ask for the services besides the one the daemon runs as: names, or numbers.
    pub users: Vec<String>,
}

impl Socket {
    /// Their numbers.
    ///
    /// # Errors
    /// [`ConfigError::User`] for a name this host does not know.
    pub fn user_ids(&self) -> Result<Vec<u32>, ConfigError> {
        let id = |user: &String| match user.parse() {
            Ok(id) => Ok(id),
            Err(_) => match nix::unistd::User::from_name(user) {
                Ok(Some(known)) => Ok(known.uid.as_raw()),
                Ok(None) | Err(_) => Err(ConfigError::User { found: user.clone() }),
            },
        };
        self.users.iter().map(id).collect()
    }
}

/// Whom to trust.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Trust {
    /// Files of roots' certificates.
    pub roots: Vec<PathBuf>,
    /// Files of authorities' certificates.
    pub authorities: Vec<PathBuf>,
    /// File of the trust list manager's certificate, whose list names more roots.
    pub tlm: Option<PathBuf>,
    /// Whether certificates and messages are taken that are well formed, but not in canonical form.
    pub lenient: bool,
}

impl Trust {
    /// The rules by which certificates and messages are decoded.
    pub fn rules(&self) -> Rules {
        if self.lenient { Rules::LENIENT } else { Rules::STRICT }
    }
}

/// Pseudonyms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pseudonyms {
    /// Name of a preset; see [`Preset`].
    pub policy: String,
    /// More are requested with fewer unused ones than this.
    pub low_water: usize,
    /// They are requested up to this many.
    pub preload: usize,
    /// How long before pseudonyms end those for the time after are requested, at most; 0: not before they have ended `[s]`. See
    /// [`PoolConfig::ahead_s`].
    pub ahead_s: u32,
    /// Whether they are requested at all.
    pub ask: bool,
    /// Whether one that was changed away from is deleted.
    pub delete_used: bool,
}

impl Default for Pseudonyms {
    fn default() -> Self {
        let pool = PoolConfig::default();
        Self {
            policy: Preset::Segments.name().to_owned(),
            low_water: pool.low_water,
            preload: pool.preload,
            ahead_s: pool.ahead_s,
            ask: !pool.never_asks,
            delete_used: pool.deletes_used,
        }
    }
}

/// Where more pseudonyms come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Authority {
    /// Address of the authorization authority.
    pub url: String,
    /// File of its certificate.
    pub aa: PathBuf,
    /// File of the certificate of the enrolment authority whose credential the station has.
    pub ea: PathBuf,
    /// What tickets are to allow, as `36:01ffff`.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// Address of the enrolment authority, which renews the credential; none: it is not renewed.
    #[serde(default)]
    pub ea_url: Option<String>,
    /// How long before its end the credential is renewed, at most; half of that at least `[s]`.
    #[serde(default = "default_renew_ahead_s")]
    pub renew_ahead_s: u32,
}

/// A month.
fn default_renew_ahead_s() -> u32 {
    30 * 86_400
}

impl Authority {
    /// Tickets of `aa` at `url`, with the credential of `ea`, which is not renewed.
    #[must_use]
    pub fn new(url: impl Into<String>, aa: impl Into<PathBuf>, ea: impl Into<PathBuf>) -> Self {
        Self {
            url: url.into(),
            aa: aa.into(),
            ea: ea.into(),
            permissions: Vec::new(),
            ea_url: None,
            renew_ahead_s: default_renew_ahead_s(),
        }
    }
}

/// Verification on demand.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Verification {
    /// `always`, `sampling`, `threshold`, `relevance` or `on-demand`.
    pub policy: String,
    /// One of so many (sampling), so many a second (threshold).
    pub value: u32,
    /// With `relevance`: nearer than this `[m]`.
    pub distance_m: u32,
    /// With `relevance`: met sooner than this `[ms]`.
    pub time_to_collision_ms: u32,
    /// Certificates that are learned a second from messages the policy leaves out, each after its signature was verified.
    pub certificates_per_second: u32,
    /// Skipped messages that are kept for the audit.
    pub audit: usize,
    /// How long a message waits for others that are verified with it, at most `[us]`.
    pub wait_max_us: u32,
    /// Messages that wait at most; one more, and the least relevant is dropped.
    pub queue: usize,
    /// Messages that are remembered against replay. Half of them have to last for as long as a message is fresh.
    pub replays: usize,
    /// Whether to verify many at a time, on the lanes of AVX-512 IFMA or in 64-bit words, where the processor has them.
    pub lanes: bool,
    /// Whether multiples of each neighbour's key are kept, 8 KB each.
    pub signer_tables: bool,
}

impl Default for Verification {
    fn default() -> Self {
        Self {
            policy: "always".into(),
            value: 1,
            distance_m: 300,
            time_to_collision_ms: 5000,
            certificates_per_second: CERTIFICATES_PER_SECOND,
            audit: 1000,
            wait_max_us: 0,
            queue: QUEUE_LEN,
            replays: 32_768,
            lanes: true,
            signer_tables: false,
        }
    }
}

/// Fewest messages that may be remembered.
const REPLAYS_MIN: usize = 1024;
/// Most messages that may be remembered: 16 to 32 octets each.
const REPLAYS_MAX: usize = 1 << 22;
/// Longest queue that may be asked for `[messages]`: each may be 64 KB long.
const QUEUE_LEN_MAX: usize = 4096;
/// How far ahead pseudonyms may be requested at most: three months, as the EU's certificate policy 1.1 has it `[s]`.
const AHEAD_MAX_S: usize = 90 * 86_400;
/// Longest wait that may be asked for `[us]`.
const WAIT_MAX_US: usize = 100_000;

/// Logging.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Logging {
    /// Measure time at checkpoints.
    pub statistics: bool,
    /// With `statistics`: measure there what the process holds in memory, too, which takes some microseconds each time.
    pub memory: bool,
    /// A line in the log for each signature and each verification; without, only what goes wrong has one.
    pub results: bool,
    /// Write events to this file; with `circular`, to `FILE.1`, `FILE.2`, ...
    pub file: Option<PathBuf>,
    /// Number of files that take turns; none: one file that grows.
    pub circular: Option<u32>,
    /// When the next file's turn comes `[byte]`.
    pub file_len_max: u64,
    /// Whether the log names the station's own pseudonyms: whoever reads it can then follow the car.
    pub pseudonyms: bool,
}

impl Default for Logging {
    fn default() -> Self {
        Self {
            statistics: true,
            memory: false,
            results: false,
            file: None,
            circular: None,
            file_len_max: 1 << 20,
            pseudonyms: false,
        }
    }
}

impl VssConfig {
    /// Reads a file. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// [`VssError::Config`] with file, line and what was expected.
    pub fn read(path: &Path) -> Result<Self, VssError> {
        let mut config = Self::parse(path).map_err(|reason| VssError::Config { file: path.to_owned(), reason })?;
        let base = path.parent().unwrap_or(Path::new("."));
        let place = |path: &mut PathBuf| *path = base.join(&*path);
        place(&mut config.folder);
        place(&mut config.pin_file);
        let trust = &mut config.trust;
        trust.roots.iter_mut().chain(&mut trust.authorities).chain(&mut trust.tlm).for_each(place);
        config.lists.files.iter_mut().for_each(place);
        config.logging.file.iter_mut().for_each(place);
        config.authority.iter_mut().flat_map(|one| [&mut one.aa, &mut one.ea]).for_each(place);
        config.misbehaviour.iter_mut().for_each(|to| place(&mut to.ma));
        if let BackEnd::Software { folder, .. } = &mut config.hsm {
            *folder = base.join(&*folder);
        }
        Ok(config)
    }

    fn parse(path: &Path) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(&std::fs::read_to_string(path)?)?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.change_policy()?;
        self.demand_policy()?;
        self.socket.user_ids()?;
        self.lists.refuses_overdue()?;
        if self.lists.refresh_s == 0 {
            return Err(ConfigError::NoRefresh);
        }
        if self.lists.ectl.is_some() && self.trust.tlm.is_none() {
            return Err(ConfigError::NoManager);
        }
        if self.pseudonyms.preload < self.pseudonyms.low_water {
            let Pseudonyms { preload, low_water, .. } = self.pseudonyms;
            return Err(ConfigError::Preload { preload, low_water });
        }
        let Verification { wait_max_us, queue, replays, .. } = self.verification;
        let ranges = [
            ("pseudonyms.ahead_s", self.pseudonyms.ahead_s as usize, 0..=AHEAD_MAX_S),
            ("verification.queue", queue, 1..=QUEUE_LEN_MAX),
            ("verification.replays", replays, REPLAYS_MIN..=REPLAYS_MAX),
            ("verification.wait_max_us", wait_max_us as usize, 0..=WAIT_MAX_US),
        ];
        for (entry, found, range) in ranges {
            if !range.contains(&found) {
                return Err(ConfigError::OutOfRange { entry, found, min: *range.start(), max: *range.end() });
            }
        }
        if self.logging.circular == Some(0) {
            return Err(ConfigError::NoLogFile);
        }
        Ok(())
    }

    /// The pool as configured.
    pub fn pool(&self) -> PoolConfig {
        let Pseudonyms { low_water, preload, ahead_s, ask, delete_used, .. } = self.pseudonyms;
        PoolConfig { low_water, preload, never_asks: !ask, deletes_used: delete_used, ahead_s }
    }

    /// The policy of changes as configured.
    ///
    /// # Errors
    /// [`ConfigError::PseudonymPolicy`] for a name that is none.
    pub fn change_policy(&self) -> Result<ChangePolicy, ConfigError> {
        let name = &self.pseudonyms.policy;
        let preset = Preset::from_name(name);
        preset.map(Preset::policy).ok_or_else(|| ConfigError::PseudonymPolicy { found: name.clone() })
    }

    /// How received messages wait and are verified.
    ///
    /// # Errors
    /// As [`VssConfig::demand_policy`].
    pub fn pipeline(&self) -> Result<PipelineConfig, ConfigError> {
        let Verification { audit, wait_max_us, queue, lanes, certificates_per_second, .. } = self.verification;
        Ok(PipelineConfig {
            engine: if lanes { Engine::fastest() } else { Engine::Scalar },
            queue_len_max: queue,
            wait_max_ns: u64::from(wait_max_us) * 1_000,
            demand: self.demand_policy()?,
            certificates_per_second,
            audit_len: audit,
        })
    }

    /// The policy of verification as configured.
    ///
    /// # Errors
    /// [`ConfigError::VerificationPolicy`] for a name that is none, [`ConfigError::SamplesNothing`] for one of none.
    pub fn demand_policy(&self) -> Result<DemandPolicy, ConfigError> {
        let Verification { policy, value, distance_m, time_to_collision_ms, .. } = &self.verification;
        Ok(match policy.as_str() {
            "always" => DemandPolicy::Always,
            "sampling" if *value == 0 => return Err(ConfigError::SamplesNothing),
            "sampling" => DemandPolicy::Sampling { one_of: *value },
            "threshold" => DemandPolicy::Threshold { per_second: *value },
            "relevance" => {
                DemandPolicy::Relevance { distance_m: *distance_m, time_to_collision_ms: *time_to_collision_ms }
            }
            "on-demand" => DemandPolicy::OnDemand,
            other => return Err(ConfigError::VerificationPolicy { found: other.to_owned() }),
        })
    }
}
