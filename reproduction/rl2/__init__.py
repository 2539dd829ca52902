"""The tables of RL² (Duan et al., 2016), audited: see docs/rl2.md."""
