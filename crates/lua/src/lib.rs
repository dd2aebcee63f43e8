//! The one Lua host, LuaJIT: scripts of the proxy today, those of sysbench later.
