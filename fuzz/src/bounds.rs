//! Readers of networks and results of Saihu.

use chronoseal_analysis::calculus::saihu::{read_network, read_results, write_network};

/// Output-port networks: refused with a reason, or networks that are read again as they are written.
pub fn output_port_network(data: &[u8]) {
    let read = match read_network("fuzz", data) {
        Ok(read) => read,
        Err(refusal) => return assert!(refusal.to_string().starts_with("fuzz"), "a refusal names the file"),
    };
    for end in &read.ends {
        assert!(read.network.flows()[end.flow].ends().any(|hop| hop == end.hop), "a way ends where its flow ends");
        assert!(!end.names.is_empty(), "results have a name for it");
    }
    // A rate of less than what is written, a millibit a second, is none.
    let Ok(written) = write_network(&read.name, read.multiplexing, &read.network) else { return };
    if let Ok(again) = read_network("again", written.as_bytes()) {
        let twice = write_network(&again.name, again.multiplexing, &again.network);
        assert_eq!(twice.as_ref(), Ok(&written), "what is written has one meaning");
    }
}

/// Bounds of other tools: refused with a reason, or numbers from zero.
pub fn other_bounds(data: &[u8]) {
    match read_results("fuzz", data) {
        Ok(read) => {
            let tools = read.flows.values().chain(read.servers.values());
            let delays = tools.flat_map(|tool| tool.values().flatten());
            assert!(delays.into_iter().all(|delay| !delay.is_negative()), "no delay is below zero");
        }
        Err(refusal) => assert!(refusal.to_string().starts_with("fuzz"), "a refusal names the file"),
    }
}
