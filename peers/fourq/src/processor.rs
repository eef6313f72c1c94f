//! What the figures were taken on: the processor, in its own words, and the compilers.

/// The first processor of /proc/cpuinfo, and whether it is a virtual one.
pub fn describe() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
        line.and_then(|line| line.split_once(':')).map_or("unknown", |(_, value)| value.trim())
    };
    let has = |flag: &str| field("flags").split(' ').any(|other| other == flag);
    let flags: Vec<&str> = ["bmi2", "adx", "avx2", "avx512ifma"].into_iter().filter(|flag| has(flag)).collect();
    format!(
        "{}, family {}, model {}, stepping {}{}, with {}",
        field("model name"),
        field("cpu family"),
        field("model"),
        field("stepping"),
        if has("hypervisor") { ", as its hypervisor shows it" } else { "" },
        if flags.is_empty() { "none of BMI2, ADX, AVX2, AVX-512 IFMA".into() } else { flags.join(", ") },
    )
}

/// The compilers that made this program.
pub const COMPILERS: &str = env!("COMPILERS");
