"""
From what a policy would like to what is allowed.

Takes a state, a forecast and a proposal; gives the nearest allowed plan, with a sentence for every decision, or
`Infeasible` with the rules that clash. It will not improve a proposal: it cuts what breaks a rule, and adds only what a
rule demands.

    rules/, rule_book   the rules, each with its reason and source, and its check in words
    referee             judges any list of decisions by the rule book; it knows no solver
    rows/, model        the same rules once more, as rows of a small integer programme
    trouble, universe   which decisions a repair must look at, and what it may order beside them
    highs               the only file that knows the solver
    repair, trimming    the nearest allowed plan; or, out of time, one that is merely allowed
    clash               which mandatory wishes and rules cannot hold together
    layer               the door: proposal -> Plan | Infeasible
"""
