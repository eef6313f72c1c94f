//! Every node there is keeps the contract of nodes.
