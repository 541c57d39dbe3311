//! Table, generator and selection algorithms of idlest, without Node-API.
