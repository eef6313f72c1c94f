//! When a station's certificate travels with a message, TS 103 097 V2.1.1 clause 7.1.1: once a second, when the
//! certificate has changed, and when a neighbour asks; its identifier otherwise.

use crate::types::HashedId8;

/// How often a certificate is included in messages of the cooperative awareness service `[us]`.
pub const INCLUSION_PERIOD_US: u64 = 1_000_000;

/// Decides for each message who its signer says it is.
#[derive(Clone, Debug, Default)]
pub struct CertificateInclusion {
    /// When it was last included, and which.
    last: Option<(u64, HashedId8)>,
}

/// What the signer identifier of a message holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inclusion {
    /// The certificate.
    Certificate,
    /// Its identifier.
    Digest,
}

impl CertificateInclusion {
    /// For a message that is made now with this certificate. `always` for services that include it in each message
    /// (decentralised environmental notification, clause 7.1.2), and when a neighbour has asked for it
    /// ([`crate::verify::PeerDistribution`]).
    pub fn decide(&mut self, now_us: u64, certificate: HashedId8, always: bool) -> Inclusion {
        let is_due = self.last.is_none_or(|(at, included)| {
            included != certificate || now_us.saturating_sub(at) >= INCLUSION_PERIOD_US || now_us < at
        });
        if !(is_due || always) {
            return Inclusion::Digest;
        }
        self.last = Some((now_us, certificate));
        Inclusion::Certificate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: HashedId8 = HashedId8([1; 8]);
    const SECOND: HashedId8 = HashedId8([2; 8]);

    #[test]
    fn the_certificate_goes_along_each_second_and_when_it_is_new() {
        let mut inclusion = CertificateInclusion::default();
        let with: Vec<u64> = (0..25)
            .filter(|number| {
                let certificate = if *number < 13 { FIRST } else { SECOND };
                inclusion.decide(number * 100_000, certificate, false) == Inclusion::Certificate
            })
            .collect();
        assert_eq!(with, [0, 10, 13, 23]);
    }

    #[test]
    fn whoever_asks_gets_it_and_the_second_counts_from_there() {
        let mut inclusion = CertificateInclusion::default();
        inclusion.decide(0, FIRST, false);
        assert_eq!(inclusion.decide(500_000, FIRST, true), Inclusion::Certificate);
        assert_eq!(inclusion.decide(1_400_000, FIRST, false), Inclusion::Digest);
        assert_eq!(inclusion.decide(1_500_000, FIRST, false), Inclusion::Certificate);
    }

    #[test]
    fn a_clock_that_jumps_back_does_not_silence_the_certificate() {
        let mut inclusion = CertificateInclusion::default();
        inclusion.decide(10_000_000, FIRST, false);
        assert_eq!(inclusion.decide(0, FIRST, false), Inclusion::Certificate);
    }
}
