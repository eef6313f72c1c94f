//! Reads the bounds of other tools, as Saihu exports them.

use std::collections::BTreeMap;

use chronoseal_schedule::exchange::Refusal;
use serde_json::{Map, Value};

use super::super::rational::Rational;
use super::check::{At, object};
use super::units::{Quantity, decimal};

/// What Saihu writes; both spellings of the last are in use.
const FILE: &[&str] = &["name", "flow_e2e_delay", "server_delay", "execution_time", "units"];
const UNITS: &[&str] = &["flow_delay", "server_delay", "execution_time", "exectution_time"];

/// What other tools say of a network, by tool and method, such as `xTFA_TFA`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OtherBounds {
    /// The network that they were given.
    pub network: String,
    /// By tool and flow: how long its data takes at most `[s]`; `None` if the tool found no bound.
    pub flows: BTreeMap<String, BTreeMap<String, Option<Rational>>>,
    /// By tool and server: how long data stays there at most `[s]`.
    pub servers: BTreeMap<String, BTreeMap<String, Option<Rational>>>,
}

/// Reads the data that Saihu exports beside its report.
///
/// # Errors
/// Where the file is wrong, what was expected there, and what to do.
pub fn read_results(source: &str, bytes: &[u8]) -> Result<OtherBounds, Refusal> {
    let file = object(source, bytes)?;
    let at = At { source, path: "" };
    at.only(&file, FILE)?;
    let units = at.object(&file, "units", "an object with the units of `flow_delay` and `server_delay`")?;
    let in_units = At { source, path: "units" };
    in_units.only(units, UNITS)?;
    Ok(OtherBounds {
        network: at.text(&file, "name")?.to_owned(),
        flows: delays(source, &file, ("flow_e2e_delay", "flow_delay"), units)?,
        servers: match file.contains_key("server_delay") {
            true => delays(source, &file, ("server_delay", "server_delay"), units)?,
            false => BTreeMap::new(),
        },
    })
}

/// By tool and flow or server, from what is written by flow or server and tool.
fn delays(
    source: &str,
    file: &Map<String, Value>,
    (name, unit_name): (&str, &str),
    units: &Map<String, Value>,
) -> Result<BTreeMap<String, BTreeMap<String, Option<Rational>>>, Refusal> {
    let at = At { source, path: name };
    let all = At { source, path: "" }.object(file, name, "an object with a bound for each tool, by name")?;
    let mut found: BTreeMap<String, BTreeMap<String, Option<Rational>>> = BTreeMap::new();
    let in_units = At { source, path: "units" };
    let unit = Quantity::Time.unit(in_units.text(units, unit_name).unwrap_or_default());
    for (of, by_tool) in all {
        let place = at.of(of);
        let by_tool = at.member(&place, by_tool, "an object with a bound for each tool")?;
        for (tool, value) in by_tool {
            let place = format!("{place}.{tool}");
            let delay = match value {
                Value::Null => None,
                Value::Number(number) => Some(decimal(&number.to_string())),
                _ => Some(None),
            };
            let is_delay = |delay: &Rational| !delay.is_negative();
            let delay = match delay {
                None => None,
                Some(delay) => {
                    let expected = "a number from 0, or null if it found no bound";
                    let delay = delay.filter(is_delay).ok_or_else(|| at.wrong(&place, value, expected))?;
                    let missing = || {
                        in_units.refuse(
                            &in_units.of(unit_name),
                            "is no unit of time, and there are delays",
                            "write their unit, such as \"us\"",
                        )
                    };
                    Some(delay * unit.as_ref().ok_or_else(missing)?)
                }
            };
            found.entry(tool.clone()).or_default().insert(of.clone(), delay);
        }
    }
    Ok(found)
}
