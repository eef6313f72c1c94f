//! Platforms: what operations cost where.

use chronoseal_core::Duration;
use chronoseal_plan::{OperationCost, PlatformPlan};
use serde::Deserialize;

use super::operations;
use crate::kinds::Context;
use crate::limits::*;
use crate::load::Files;
use crate::near::suggest;
use crate::problem::Code;
use crate::source::at;
use crate::spec::{CostSpec, PlatformSpec};

/// Platforms of the project: `data/platforms/` says where their figures come from.
const BUILTIN: &[(&str, &str)] = &[
    ("tc224", include_str!("../../../../data/platforms/tc224.toml")),
    ("tc277", include_str!("../../../../data/platforms/tc277.toml")),
    ("tc297", include_str!("../../../../data/platforms/tc297.toml")),
    ("sam-v71", include_str!("../../../../data/platforms/sam-v71.toml")),
];

/// A platform in a file of its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlatformFile {
    /// Where the figures come from.
    #[serde(default, rename = "source")]
    _source: String,
    costs: Vec<CostSpec>,
}

impl Context<'_> {
    /// The platforms, the one on which everything is free first.
    pub(super) fn platforms(&mut self, files: &dyn Files) -> Vec<PlatformPlan> {
        let specs = &self.spec.platforms;
        self.unique("platforms", specs.iter().map(|spec| spec.name.as_str()));
        let mut platforms = vec![PlatformPlan::free()];
        for (i, spec) in specs.iter().enumerate() {
            self.title(&spec.name, at!["platforms", i, "name"], "the platform's name");
            if spec.name == PlatformPlan::FREE {
                self.report(
                    Code::DuplicateName,
                    at!["platforms", i, "name"],
                    format!("`{}` is the platform on which everything is free", PlatformPlan::FREE),
                    "taken",
                    "give it another name",
                );
            }
            let mut costs = self.written_costs(i, spec);
            // What is written here stands before what it is based on.
            for cost in self.base_costs(i, spec, files) {
                if !costs.iter().any(|written| written.operation == cost.operation) {
                    costs.push(cost);
                }
            }
            platforms.push(PlatformPlan { name: spec.name.clone(), costs });
        }
        platforms
    }

    fn written_costs(&mut self, i: usize, spec: &PlatformSpec) -> Vec<OperationCost> {
        let mut costs: Vec<OperationCost> = Vec::new();
        let operations = operations::names();
        for (k, cost) in spec.costs.iter().enumerate() {
            let path = at!["platforms", i, "costs", k, "operation"];
            // A cost of an operation that nobody has would leave the one that is meant free.
            self.find(&cost.operation, &operations, path, "operation", "operations");
            if costs.iter().any(|earlier| earlier.operation == cost.operation) {
                self.report(
                    Code::DuplicateName,
                    path,
                    format!("platform `{}` gives the cost of `{}` twice", spec.name, cost.operation),
                    "again here",
                    "keep one of them",
                );
            }
            let base_path = at!["platforms", i, "costs", k, "base"];
            let byte_path = at!["platforms", i, "costs", k, "per_byte"];
            costs.push(OperationCost {
                operation: cost.operation.clone(),
                base: self.within(base_path, "the cost", cost.base.0, Duration::ZERO, DELAY_MAX),
                per_byte: self.within(byte_path, "the cost of a byte", cost.per_byte.0, Duration::ZERO, PER_BYTE_MAX),
            });
        }
        costs
    }

    /// The costs of the platform that this one is based on.
    fn base_costs(&mut self, i: usize, spec: &PlatformSpec, files: &dyn Files) -> Vec<OperationCost> {
        let text = match (&spec.builtin, &spec.file) {
            (None, None) => return Vec::new(),
            (Some(name), None) => match BUILTIN.iter().find(|(known, _)| known == name) {
                Some((_, text)) => (*text).to_owned(),
                None => {
                    let names: Vec<&str> = BUILTIN.iter().map(|(name, _)| *name).collect();
                    self.report(
                        Code::UnknownName,
                        at!["platforms", i, "builtin"],
                        format!("there is no built-in platform `{name}`"),
                        "no such platform",
                        suggest(name, &names, "built-in platforms"),
                    );
                    return Vec::new();
                }
            },
            (None, Some(path)) => {
                let read = files.read(path).map_err(|error| error.to_string());
                let text = read.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".into()));
                match text {
                    Ok(text) => text,
                    Err(reason) => {
                        self.report(
                            Code::BadPlatform,
                            at!["platforms", i, "file"],
                            format!("`{path}` cannot be read: {reason}"),
                            "cannot be read",
                            "the path counts from the scenario's folder",
                        );
                        return Vec::new();
                    }
                }
            }
            (Some(_), Some(_)) => {
                self.report(
                    Code::ChooseOne,
                    at!["platforms", i],
                    format!("platform `{}` is based on two others", spec.name),
                    "both `builtin` and `file`",
                    "keep one of them",
                );
                return Vec::new();
            }
        };
        let too_large = |cost: &CostSpec| {
            let base = Duration::ZERO..=DELAY_MAX;
            !base.contains(&cost.base.0) || !(Duration::ZERO..=PER_BYTE_MAX).contains(&cost.per_byte.0)
        };
        let operations = operations::names();
        let unknown = |file: &PlatformFile| {
            let mut names = file.costs.iter().map(|cost| cost.operation.clone());
            names.find(|name| !operations.contains(&name.as_str()))
        };
        let reason = match toml::from_str::<PlatformFile>(&text) {
            Ok(file) if unknown(&file).is_some() => {
                let name = unknown(&file).unwrap_or_default();
                format!("there is no operation named `{name}`: {}", suggest(&name, &operations, "operations"))
            }
            Ok(file) if !file.costs.iter().any(too_large) => {
                let plan = |cost: CostSpec| OperationCost {
                    operation: cost.operation,
                    base: cost.base.0,
                    per_byte: cost.per_byte.0,
                };
                return file.costs.into_iter().map(plan).collect();
            }
            Ok(_) => format!("a cost lies outside 0s to {DELAY_MAX}, or {PER_BYTE_MAX} for each byte"),
            Err(error) => error.to_string().trim().to_owned(),
        };
        self.report(
            Code::BadPlatform,
            at!["platforms", i, "file"],
            format!("this file is no platform: {reason}"),
            "cannot be used",
            "write `[[costs]]` entries with `operation`, `base` and `per_byte`",
        );
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_platform_reads() {
        for (name, text) in BUILTIN {
            let file: PlatformFile = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(file.costs.len(), 11, "{name}");
        }
    }
}
