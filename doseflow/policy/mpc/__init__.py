"""
Staffing by linear programme: takes a Situation, gives staff moves; the only room besides `feasible` that has a solver.

People flow like water through the three served stages of every site, members of staff like water between sites; only
the first block's moves become orders, in whole numbers. Everything but staff is left to the rules.

    params          what each planner of the family may be told
    time_grid       the horizon in blocks, and when moves take effect in it
    fluid_city      the numbers of the programme, read off a Situation
    fluid_queue     the queues when nobody moves: who needs help, and who can give without being missed
    arcs            moves worth a variable
    programme       the programme as sparse arrays
    highs_lp        the solver
    margins         what thin teams cost that water does not see
    fluid_value     what a plan costs, without a solver
    whole_moves     whole people from fractions
    move_orders     orders from whole people
    futures         sampled arrivals for the planner that hedges
    mpc_staffing    the StaffingRule that joins them
"""
