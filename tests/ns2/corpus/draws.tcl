# Random variables of all kinds. Argument: draws of each.
set ns [new Simulator]
foreach {kind settings} {
    Uniform {min_ 1 max_ 9} Exponential {avg_ 2} Pareto {avg_ 3 shape_ 1.5} ParetoII {avg_ 3 shape_ 1.5}
    Normal {avg_ 1 std_ 2} LogNormal {avg_ 1 std_ 0.5} Constant {val_ 4} HyperExponential {avg_ 1 cov_ 4}
    Weibull {shape_ 2 scale_ 3} Gamma {alpha_ 1.5 beta_ 2}
} {
    set variable [new RandomVariable/$kind]
    foreach {name value} $settings {
        $variable set $name $value
    }
    set rng [new RNG]
    $rng seed 3
    $variable use-rng $rng
    for {set i 0} {$i < [lindex $argv 0]} {incr i} {
        puts "$kind [$variable value]"
    }
}
