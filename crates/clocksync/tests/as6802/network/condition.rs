//! What tests see of the devices.

use chronoseal_clocksync::as6802::{CompressionMasterState, SynchronisationClientState, SynchronisationMasterState};
use chronoseal_core::Duration;

use super::{Device, Network, Place, Station};

/// The state of any device, as far as tests ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    Off,
    Starting,
    Sync,
    Stable,
}

impl Network {
    pub(super) fn is_faulty(&self, place: Place) -> bool {
        self.stations.iter().any(|station| station.place == place && matches!(station.device, Device::Faulty))
    }

    pub(crate) fn condition(&self, place: Place) -> Condition {
        use CompressionMasterState as Cm;
        use SynchronisationClientState as Sc;
        use SynchronisationMasterState as Sm;
        match &self.stations.iter().find(|station| station.place == place).unwrap().device {
            Device::Off | Device::Faulty => Condition::Off,
            Device::Master(master) => match master.state() {
                Sm::Stable => Condition::Stable,
                Sm::Sync => Condition::Sync,
                _ => Condition::Starting,
            },
            Device::Compression(master) => match master.state() {
                Cm::Stable => Condition::Stable,
                Cm::Sync => Condition::Sync,
                _ => Condition::Starting,
            },
            Device::Client(client) => match client.state() {
                Sc::Stable => Condition::Stable,
                Sc::Sync => Condition::Sync,
                Sc::Integrate => Condition::Starting,
            },
        }
    }

    /// What each synchronised correct clock shows.
    pub(crate) fn clocks(&self) -> Vec<(Place, Duration)> {
        let shown = |station: &Station| {
            let local = station.oscillator.local(self.now);
            let time = match &station.device {
                Device::Off | Device::Faulty => None,
                Device::Master(master) => master.cluster_time(local),
                Device::Compression(master) => master.cluster_time(local),
                Device::Client(client) => client.cluster_time(local),
            };
            time.map(|time| (station.place, time))
        };
        self.stations.iter().filter_map(shown).collect()
    }
}
