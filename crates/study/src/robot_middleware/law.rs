//! What the network alone adds to a message of one packet: the delay of the emulated link and the time at its rate.

use chronoseal_middleware::{Data, Network, Packets};

/// Headers of a UDP datagram in an Ethernet frame, without preamble and gap `[byte]`.
const HEADERS: f64 = 14.0 + 20.0 + 8.0;

/// Mean and standard deviation of the source's delay: a normal law whose negative draws become zero `[us]`.
pub(super) fn delay(network: Network) -> Option<(f64, f64)> {
    let (mean, deviation) = match network.profile {
        "gigabit-ethernet" => (300.0, 360.0),
        "wifi" => (13_000.0, 22_000.0),
        _ => return None,
    };
    Some(clamped(mean, deviation))
}

/// Mean and standard deviation of `max(0, N(mean, deviation))`.
fn clamped(mean: f64, deviation: f64) -> (f64, f64) {
    let z = mean / deviation;
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let share = share_below(z);
    let first = mean * share + deviation * density;
    let second = (mean * mean + deviation * deviation) * share + mean * deviation * density;
    (first, (second - first * first).sqrt())
}

/// The share of a standard normal law below `z`, by its continued series; exact to 1e-12 for the few values asked for.
fn share_below(z: f64) -> f64 {
    let (mut term, mut sum) = (z, z);
    let mut k = 1.0;
    while term.abs() > 1e-15 {
        term *= z * z / (2.0 * k + 1.0);
        sum += term;
        k += 1.0;
    }
    0.5 + sum * (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// What a message of one packet takes from the link on average `[us]`; `None` if it has several packets, or the link adds nothing.
pub(super) fn mean(data: &Data, network: Network, packets: Packets) -> Option<f64> {
    let is_one = f64::from(data.length) + 28.0 <= f64::from(packets.mtu());
    let sending = (f64::from(data.length) + HEADERS) * 8.0 / network.rate? as f64 * 1e6;
    delay(network).filter(|_| is_one).map(|(mean, _)| mean + sending)
}

#[cfg(test)]
mod tests {
    use chronoseal_middleware::NETWORKS;

    use super::*;

    #[test]
    fn the_clamped_law_has_the_moments_that_were_computed_for_it() {
        let (mean, deviation) = delay(NETWORKS[1]).expect("it has a delay");
        assert!((mean - 340.8).abs() < 0.1 && (deviation - 299.1).abs() < 0.1, "{mean} {deviation}");
        let (mean, deviation) = delay(NETWORKS[2]).expect("it has a delay");
        assert!((mean - 16_770.0).abs() < 10.0 && (deviation - 16_930.0).abs() < 10.0, "{mean} {deviation}");
    }

    #[test]
    fn a_laser_scan_in_one_packet_takes_the_delay_and_its_bits() {
        let [laser, image, _] = Data::published();
        let wifi = mean(&laser, NETWORKS[2], Packets::Large).expect("one packet");
        assert!((wifi - 18_110.0).abs() < 20.0, "{wifi}");
        assert_eq!(mean(&image, NETWORKS[2], Packets::Large), None);
        assert_eq!(mean(&laser, NETWORKS[2], Packets::Real), None);
        assert_eq!(mean(&laser, NETWORKS[0], Packets::Large), None);
    }
}
