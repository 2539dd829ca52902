"""Compiled code that several agents share. It works on plain arrays and NamedTuples of arrays.

- `jit`: the decorators of compiled functions
- `machine_code`: compiled functions on disk
- `types`: names of array types
- `arrays`: copying between arrays, unsigned indices
- `counts`: posterior counts, and the known rewards
- `families`: what agents ask of beliefs
- `dispatch`: functions chosen by the type of their first argument
- `choice`: choosing an action by its value, breaking ties
- `luck`: the part of a return that is luck
- `practice`: trajectories on MDPs of the prior
- `calibration`: the speed of the machine
- `loop/`: the trajectory loop (`trajectory`), the MDP that is played (`environment`), `clock`, and
  stopping in time (`deadline`)
- `random/`: generators (`rng`), gamma and Dirichlet variates (`gamma`), extremes of Beta variates
  (`beta`), rows of high value (`tail`), alias tables (`alias`), multinomial numbers (`multinomial`)
- `solving/`: the mean MDP kept solved (`model`), hooks of agents that have one (`model_agent`), its
  solutions without end (`endless`) and of episodes (`episodes`), which go by `plans`, hypothetical
  transitions (`undo`), a sampled MDP (`sampled`, `sampled_values`), the merged MDP of sampled rows
  (`merged`, `merged_rows`) or of sampled models (`merged_models`), linear equations
  (`elimination`), and `tolerances`
- `beliefs/`: the costs of actions under beliefs (`facets`), and a search over beliefs (`graph`)

Nothing here imports from the rest of the package, except `machine_code`.

Notation: x state, u action, y next state, r reward, pair = x * num_actions + u; S states,
A actions, P pairs. An array [1] is a number that compiled code can change.
"""
