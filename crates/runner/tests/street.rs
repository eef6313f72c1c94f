//! Scenarios with a street, for the tests of both engines.

/// A street on which everybody hears everybody, and a unit at its side.
pub(crate) const STREET: &str = r#"
schema_version = 2
name = "street"
duration = "3s"
[segments.street.radio]
path_loss = { disc = { range = "2km" } }
road = { highway = { length = "300m", lanes = 2, vehicles = 8, warm_up = "20s" } }
vehicles = { platform = "unit" }
[[platforms]]
name = "unit"
[[platforms.costs]]
operation = "p256-sign"
base = "300us"
[[platforms.costs]]
operation = "p256-verify"
base = "400us"
[[nodes]]
name = "roadside"
platform = "unit"
clock = "ideal"
station = {}
[[streams]]
name = "awareness"
from = "street"
street = { message = "cam" }
[[streams]]
name = "warning"
from = "street"
to = ["roadside"]
period = "500ms"
deadline = "100ms"
street = { message = "denm" }
"#;

/// The unit at the side of the street is on a backbone and on a bus as well, and passes warnings on.
const BEYOND: &str = r#"
[segments.backbone.ethernet]
rate = "100Mbit/s"
cluster_cycle = "10ms"
guard_period = "100us"
sync = "ideal"
class = { best_effort = {} }
[segments.body.can]
bit_rate = "500kbit/s"
data_bit_rate = "2Mbit/s"
[[nodes]]
name = "cluster"
on = ["backbone"]
clock = "ideal"
[[nodes]]
name = "lamps"
on = ["body"]
clock = "ideal"
"#;

/// [`STREET`] with all that is beyond it.
pub(crate) fn beyond_the_street() -> String {
    let text = STREET
        .replacen(
            "station = {}",
            "on = [\"street\", \"backbone\", \"body\"]\ngateway = { delay = \"50us\" }\nstation = {}",
            1,
        )
        .replacen(
            "to = [\"roadside\"]",
            "to = [\"cluster\", \"lamps\"]\nbody = { id = \"0x120\", format = \"fd\" }",
            1,
        );
    text + BEYOND
}
