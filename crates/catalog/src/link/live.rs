//! How long the kernel of a live station waits for the rest of a message, which a scenario cannot tell it.

use chronoseal_core::Duration;
use chronoseal_plan::{Link, LinkTransport};

/// Linux waits so long for fragments (`net.ipv4.ipfrag_time`), and a scenario that says nothing half of it: neither comes to an end where
/// packets are at most seconds late.
const KERNEL_WAITS: Duration = Duration::from_s(30);
/// What a scenario that says nothing has.
const USUAL: Duration = Duration::from_s(15);

/// The streams whose messages a live run gives up later than their `reassembly_timeout` says, in words.
pub(super) fn waits_longer(view: Link<'_>) -> Vec<String> {
    let by_kernel = view.streams().filter(|(.., facet)| {
        let is_put_together =
            facet.transport == LinkTransport::Udp && facet.parts.is_none() && facet.cut.fragments() > 1;
        is_put_together && facet.timeout < USUAL
    });
    by_kernel
        .map(|(_, stream, _, facet)| {
            format!(
                "the kernel puts messages of `{}` together and waits {KERNEL_WAITS} for what is missing, not {} as its `reassembly_timeout` \
                 says: messages that a simulation gives up come late here",
                stream.name, facet.timeout
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use chronoseal_plan::SegmentId;
    use chronoseal_scenario::{NoFiles, load};

    use super::*;

    #[test]
    fn what_the_kernel_does_otherwise_is_said() {
        let of = |length: &str, table: &str| {
            let text = format!(
                "schema_version = 2\nname = \"x\"\nduration = \"1s\"\n[segments.air.link]\n[[nodes]]\nname = \"a\"\n[[nodes]]\nname = \"b\"\n\
                 [[streams]]\nname = \"laser\"\nfrom = \"a\"\nto = [\"b\"]\nperiod = \"10ms\"\nlength = \"{length}\"\n{table}"
            );
            let plan = load("x.toml", text.as_bytes(), &[], &NoFiles).unwrap_or_else(|all| panic!("{}", all.render()));
            waits_longer(Link::of(&plan, SegmentId(0)).expect("it is one"))
        };
        let short = "air = { reassembly_timeout = \"500ms\" }";
        let said = of("9kB", short);
        assert!(said.len() == 1 && said[0].contains("waits 30s for what is missing, not 500ms"), "{said:?}");
        assert_eq!(of("9kB", ""), Vec::<String>::new());
        // Put together by us.
        assert_eq!(of("100kB", short), Vec::<String>::new());
    }
}
