//! Two CAN buses and an Ethernet between them, without gateways and streams, and what tests of such gateways share.

use chronoseal_results::rows::{FrameRow, Outcome};

/// Its segments and the protection `sealed`.
pub(crate) const ZONES: &str = r#"
schema_version = 2
name = "zones"
duration = "1500ms"
[segments.front.can]
bit_rate = "500kbit/s"
data_bit_rate = "2Mbit/s"
[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "100us"
class = { best_effort = { priority = 5 } }
[segments.rear.can]
bit_rate = "500kbit/s"
data_bit_rate = "2Mbit/s"
[[protections]]
name = "sealed"
mac = { algorithm = "cmac-aes-128", tag = "8B", freshness = { truncated = "2B" } }
[[nodes]]
name = "pedal"
on = ["front"]
[[nodes]]
name = "brake"
on = ["rear"]
[[nodes]]
name = "cluster"
on = ["backbone"]
"#;

pub(crate) const END_TO_END: &str = "{ end_to_end = \"sealed\" }";
pub(crate) const HOP_BY_HOP: &str = "{ front = \"sealed\", backbone = \"sealed\", rear = \"sealed\" }";

/// Twenty attacks of a kind on the stream `request`, in the first gateway.
pub(crate) fn liar(kind: &str) -> String {
    format!(
        "[[threats]]\nname = \"liar\"\nkind = \"{kind}\"\nstream = \"request\"\nat = {{ node = \"zone-front\" \
         }}\nstart = \"500ms\"\ncount = 20\n"
    )
}

pub(crate) fn is_accepted(row: &FrameRow) -> bool {
    matches!(row.outcome, Outcome::Delivered | Outcome::Late)
}
