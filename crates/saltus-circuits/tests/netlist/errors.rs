use crate::message;

/// Lines of a netlist below its title, and what is said of them.
const WRONG: &[(&str, &str)] = &[
    // elements
    ("R1 a b", "a.cir:2:7: expected a resistance, found the end of the line"),
    ("R1 a", "a.cir:2:5: expected a node, found the end of the line"),
    ("R1", "a.cir:2:3: expected a node, found the end of the line"),
    (
        "R1 a b 1k5",
        "a.cir:2:8: `1k5` is not a number such as 4.7, 1e-3, 10u or 2.2kohm (digits cannot follow a suffix)",
    ),
    (
        "R1 a b 1.2.3",
        "a.cir:2:8: `1.2.3` is not a number such as 4.7, 1e-3, 10u or 2.2kohm (digits cannot follow a suffix)",
    ),
    (
        "R1 a b 2*r",
        "a.cir:2:8: expected a resistance (an expression stands in braces: `{2*r}`), found `2*r`",
    ),
    ("R1 a b {2*r}", "a.cir:2:11: unknown parameter `r`"),
    ("R1 a b {2*rr}\n.param r=1", "a.cir:2:11: unknown parameter `rr`; did you mean `r`?"),
    (
        "R1 a b {2*}",
        "a.cir:2:11: expected a number, a name or `(`, found the end of the expression",
    ),
    ("R1 a b {2", "a.cir:2:8: `{` is not closed: expected `}` before the end of the line"),
    ("R1 a b '2", "a.cir:2:8: `'` is not closed: expected `'` before the end of the line"),
    ("R1 a b {(2}", "a.cir:2:11: expected an operator or `)`, found the end of the expression"),
    ("R1 a b {2 3}", "a.cir:2:11: expected an operator, found `3`"),
    ("R1 a b {1/0}", "a.cir:2:9: the expression is inf, expected a finite number"),
    ("R1 a b {sqrt(-1)}", "a.cir:2:9: the expression is NaN, expected a finite number"),
    (
        "C1 a b {v(a)}",
        "a.cir:2:9: `v(a)` is not known here: expected a number, found a quantity that changes with time",
    ),
    ("L1 a b {time}", "a.cir:2:9: unknown parameter `time`"),
    ("R1 a b {foo(1)}", "a.cir:2:9: unknown function `foo`; did you mean `floor`?"),
    ("R1 a b {sine(1)}", "a.cir:2:9: unknown function `sine`; did you mean `sin`?"),
    ("R1 a b {sin(1,2)}", "a.cir:2:9: `sin` takes 1 argument, found 2"),
    ("R1 a b {max()}", "a.cir:2:9: `max` takes at least 1 arguments, found 0"),
    (
        "R1 a b {gauss(1,2,3)}",
        "a.cir:2:9: `gauss` of `R1` is a random number, which is not supported: expected a function of what is there at that instant",
    ),
    ("R1 a b {f(1)}\n.func f(x,y) {x+y}", "a.cir:2:9: `f` takes 2 arguments, found 1"),
    (
        "R1 a b {f(1)}\n.func f(x) {f(x)}",
        "a.cir:3:15: nested too deep: expected at most 200 levels",
    ),
    ("R1 a b 1 foo", "a.cir:2:10: unknown model `foo`"),
    ("R1 a b 1 foo bar", "a.cir:2:14: expected `name=value` or the end of the line, found `bar`"),
    ("R1 a b 1 tcc1=2", "a.cir:2:10: unknown parameter `tcc1`; did you mean `tc1`?"),
    ("R1 a b 1 m=0", "a.cir:2:12: `m` is 0, expected more than 0"),
    (
        "R1 a b 1 tc1=",
        "a.cir:2:14: expected a number, a name or `(`, found the end of the expression",
    ),
    ("R1 a b 1\nr1 a c 2", "a.cir:3:1: component `r1` is already there, at a.cir:2"),
    ("C1 a b ic=5", "a.cir:2:8: expected a capacitance, found `ic`"),
    ("L1 a b )", "a.cir:2:8: expected an inductance, found `)`"),
    ("K1 L1 0.5", "a.cir:2:7: expected an inductor such as `L1`, found `0.5`"),
    ("L1 a 0 1\nK1 L1 L2 0.5", "a.cir:3:7: unknown component `L2`; did you mean `L1`?"),
    (
        "L1 a 0 1\nL2 a 0 1\nK1 L1 L2 1.5",
        "a.cir:4:10: the coefficient of coupling is 1.5, expected more than 0 and at most 1",
    ),
    ("L1 a 0 1\nK1 L1 L1 0.5", "a.cir:3:7: expected inductors, each once, found `L1`"),
    ("V1 a 0 PULSE(0)", "a.cir:2:8: `PULSE` takes 2 to 8 values, found 1"),
    ("V1 a 0 PULSE(0 1", "a.cir:2:17: expected a value or `)`, found the end of the line"),
    ("V1 a 0 PULSE(0 1 0 0 0 1 0)", "a.cir:2:1: the period of `pulse` is 0, expected more than 0"),
    ("V1 a 0 PULSE(0 1 0 -1)", "a.cir:2:1: the rise of `pulse` is -1, expected at least 0"),
    (
        "V1 a 0 SIN(0 1)",
        "a.cir:2:1: the frequency of `sin` is not given, and there is no `.tran` to take it from",
    ),
    (
        "V1 a 0 EXP(0 1 0 0)\n.tran 1 2",
        "a.cir:2:1: a time constant of `exp` is 0, expected more than 0",
    ),
    ("V1 a 0 PWL(0 1 2)", "a.cir:2:8: `PWL` takes pairs of a time and a value, found 3"),
    (
        "V1 a 0 PWL(0 1 2 3 1 4)",
        "a.cir:2:20: a time of `pwl` is 1, expected at least the time before it",
    ),
    (
        "V1 a 0 PWL(0 1 2 3) r=5",
        "a.cir:2:1: `r` of `pwl` is 5, expected a time before the last point",
    ),
    (
        "V1 a 0 PWL file=x",
        "a.cir:2:8: `PWL` of `V1` is a source from a file, which is not supported: expected points in the netlist, `pwl(0 0 1m 5)`",
    ),
    (
        "V1 a 0 SFFM(0 1)",
        "a.cir:2:8: `sffm` of `V1` is a frequency-modulated source, which is not supported: expected `dc`, `pulse`, `pwl`, `sin`, `exp` or a formula of `time`",
    ),
    (
        "I1 a 0 TRNOISE(1)",
        "a.cir:2:8: `trnoise` of `I1` is a random source, which is not supported: expected `dc`, `pulse`, `pwl`, `sin`, `exp` or a formula of `time`",
    ),
    (
        "V1 a 0 1 2",
        "a.cir:2:10: expected `dc`, `ac`, a function of time or the end of the line, found `2`",
    ),
    ("V1 a 0 1 foo=2", "a.cir:2:10: unknown parameter `foo`"),
    ("E1 a 0 b", "a.cir:2:9: expected a node, found the end of the line"),
    ("E1 a 0 b 0", "a.cir:2:11: expected a factor, found the end of the line"),
    ("E1 a 0 (b 0 1", "a.cir:2:13: expected `)`, found `1`"),
    (
        "E1 a 0 POLY(0) 1",
        "a.cir:2:13: the number of quantities is 0, expected a whole number from 1 to 100",
    ),
    ("E1 a 0 POLY(1) a 0", "a.cir:2:19: expected a coefficient, found the end of the line"),
    ("E1 a 0 TABLE v(a) 1 2", "a.cir:2:14: expected an expression in braces, found `v`"),
    (
        "E1 a 0 TABLE {v(a)} = (1,2) (0,3)",
        "a.cir:2:8: in the formula: the abscissae of a `table` must be finite constants in ascending order",
    ),
    (
        "E1 a 0 LAPLACE {v(a)} {1/s}",
        "a.cir:2:8: `laplace` of `E1` is a source given by its spectrum, which is not supported: expected a factor, `poly`, `table` or `value={…}`",
    ),
    ("R1 a 0 1\nF1 a 0 V1 2", "a.cir:3:8: unknown component `V1`; did you mean `R1`?"),
    ("B1 a 0 2", "a.cir:2:8: expected `v=` or `i=`, found `2`"),
    ("B1 a 0 V=v(b)*2", "a.cir:2:10: unknown node `b`"),
    ("B1 a 0 V=i(Rx)*2", "a.cir:2:10: unknown component `Rx`"),
    (
        "B1 a 0 V=ddt(v(a))",
        "a.cir:2:10: `ddt` of `B1` is a derivative in time, which is not supported: expected a function of what is there at that instant",
    ),
    (
        "B1 a 0 V=v(a) ? 1",
        "a.cir:2:18: expected an operator or `:`, found the end of the expression",
    ),
    ("B1 a 0 V=v()", "a.cir:2:12: expected a node, found `)`"),
    ("D1 a 0", "a.cir:2:7: expected a model, found the end of the line"),
    ("D1 a 0 dm 0\n.model dm D", "a.cir:2:11: the area is 0, expected more than 0"),
    ("S1 a 0 b 0", "a.cir:2:11: expected a model, found the end of the line"),
    ("Q1 a b m", "a.cir:2:9: expected collector, base, emitter and a model, found 2 words"),
    ("M1 a", "a.cir:2:5: expected drain, gate, source, bulk and a model, found 0 words"),
    (
        "J1 a b c jm",
        "a.cir:2:1: `J1` is a junction field-effect transistor, which is not supported: expected one of B C D E F G H I K L M Q R S V W X",
    ),
    (
        "T1 a 0 b 0 z0=50",
        "a.cir:2:1: `T1` is a transmission line, which is not supported: expected one of B C D E F G H I K L M Q R S V W X",
    ),
    (
        "  O1 a 0 b 0 m",
        "a.cir:2:3: `O1` is a lossy transmission line, which is not supported: expected one of B C D E F G H I K L M Q R S V W X",
    ),
    (
        "U1 a 0 m",
        "a.cir:2:1: `U1` is a distributed RC line or digital device, which is not supported: expected one of B C D E F G H I K L M Q R S V W X",
    ),
    (
        "Z1 a b c m",
        "a.cir:2:1: `Z1` is a field-effect transistor of gallium arsenide, which is not supported: expected one of B C D E F G H I K L M Q R S V W X",
    ),
    (
        "M1 d g s b e m",
        "a.cir:2:14: `m` of `M1` is the model of a field-effect transistor with 5 nodes, which is not supported: expected drain, gate, source, bulk and a model",
    ),
    (
        "M1 d g s b m nqsmod=1",
        "a.cir:2:14: `nqsmod` of `M1` is a parameter of a device of another level, which is not supported: expected level 1",
    ),
    (
        "Q1 c b e m\n.model m nbjt options [1 2 3]",
        "a.cir:3:10: `m` of `Q1` is the model of a bipolar transistor solved in one dimension, which is not supported: expected a model of the type D SW CSW NMOS PMOS VDMOS NPN PNP R or C",
    ),
    (
        "M1 d g s b n w=1u\n.model n.1 nmos level=54 version=4.5.0",
        "a.cir:2:12: `n` of `M1` is a model in bins of sizes, which is not supported: expected one model for all sizes",
    ),
    (
        "R1 a 0 r w=2u l=1u\n.model r r rsh=1 narrow=1u",
        "a.cir:2:1: what model and size give `R1` is inf, expected more than 0 and finite",
    ),
    (
        "C1 a b 1u ic=5\n.ic v(a)=3 v(b)=1",
        "a.cir:3:7: `ic=` of `C1` is 5, and `.ic` says 2: expected one of them, or both alike",
    ),
    (
        "L1 a 0 1u ic=5\n.ic i(L1)=3",
        "a.cir:3:7: `ic=` of `L1` is 5, and `.ic` says 3: expected one of them, or both alike",
    ),
    (
        "R1 a 0 1\n.control\nalter R1=2\nrun\n.endc",
        "a.cir:4:1: `alter` is a change of the circuit by a script before it runs, which is not supported: expected the value in the netlist, or `--set`",
    ),
    (
        ".control\nsource b.cir\nrun\n.endc",
        "a.cir:3:1: `source` is a circuit that a script loads, which is not supported: expected the netlist itself",
    ),
    (
        "A1 a b m",
        "a.cir:2:1: `A1` is a code model, which is not supported: expected one of B C D E F G H I K L M Q R S V W X",
    ),
    (
        "N1 a b m",
        "a.cir:2:1: `N1` is a compiled device, which is not supported: expected one of B C D E F G H I K L M Q R S V W X",
    ),
    (
        "1R a b 1",
        "a.cir:2:1: expected an element such as `R1`, a card such as `.tran`, or a comment, found `1R`",
    ),
    ("(R1 a b 1)", "a.cir:2:1: expected an element or a card, found `(`"),
    // subcircuits
    ("X1 a b sub", "a.cir:2:8: unknown subcircuit `sub`"),
    (
        "X1 a b sbu\n.subckt sub a b\n.ends",
        "a.cir:2:8: unknown subcircuit `sbu`; did you mean `sub`?",
    ),
    ("X1 a sub\n.subckt sub a b\n.ends", "a.cir:2:1: subcircuit `sub` has 2 nodes, found 1"),
    (
        "X1 a b sub q=1\n.subckt sub a b w=1\n.ends",
        "a.cir:2:12: unknown parameter of the subcircuit `q`",
    ),
    (
        "X1 a b sub m=2\n.subckt sub a b w=1\n.ends",
        "a.cir:2:12: unknown parameter of the subcircuit `m`",
    ),
    ("X1 a b sub w\n.subckt sub a b w=1\n.ends", "a.cir:2:12: unknown subcircuit `w`"),
    (
        "X1 a b x\n.subckt x a b\nX2 a b y\n.ends\n.subckt y a b\nX3 a b x\n.ends",
        "a.cir:7:8: subcircuit `x` depends on itself: x → y → x",
    ),
    (
        ".subckt sub a b\nR1 a b 1",
        "a.cir:2:1: `.subckt` is not closed: expected `.ends` before the end of the file",
    ),
    (".subckt sub a A\n.ends", "a.cir:2:15: port `A` is already there, at a.cir:2"),
    (".subckt", "a.cir:2:8: expected the name of a subcircuit, found the end of the line"),
    (".ends", "a.cir:2:1: `.ends` closes `.subckt`, and none is open"),
    (".subckt s a\n.tran 1 2\n.ends", "a.cir:3:1: `.tran` cannot stand in a subcircuit"),
    ("X1 a s\n.subckt s a\nR1 a 0 {q}\n.ends", "a.cir:4:9: unknown parameter `q`"),
    // parameters
    (".param a", "a.cir:2:9: expected `=` after `a`, found the end of the line"),
    (".param a=", "a.cir:2:10: expected a number, a name or `(`, found the end of the expression"),
    (".param a={b} b={c} c={a}", "a.cir:2:23: parameter `a` depends on itself: a → b → c → a"),
    (".param a=a+1", "a.cir:2:10: parameter `a` depends on itself: a → a"),
    (".param a=0/0", "a.cir:2:10: parameter `a` is NaN, expected a number"),
    (
        ".param a={v(x)}",
        "a.cir:2:11: `v(x)` is not known here: expected a number, found a quantity that changes with time",
    ),
    (".func f", "a.cir:2:8: expected `(`, found the end of the line"),
    (".func f(x", "a.cir:2:10: expected an argument or `)`, found the end of the line"),
    // cards
    (".trna 1 2", "a.cir:2:1: unknown card `.trna`; did you mean `.tran`?"),
    (".frobnicate", "a.cir:2:1: unknown card `.frobnicate`"),
    (
        ".if (1)",
        "a.cir:2:1: `.if` is a condition, which is not supported: expected one circuit, with `.param` and `--set` for its values",
    ),
    (".tran", "a.cir:2:6: expected a step and a time to stop, found the end of the line"),
    (".tran 1u", "a.cir:2:9: expected a time to stop, found the end of the line"),
    (".tran 0 1", "a.cir:2:7: the step of `.tran` is 0, expected more than 0"),
    (".tran 1u -1", "a.cir:2:10: the end of `.tran` is -1, expected more than 0"),
    (".tran 1 2 3", "a.cir:2:11: the start of `.tran` is 3, expected less than the end"),
    (".tran 1 2 0 1 5", "a.cir:2:15: expected `uic` or the end of the line, found `5`"),
    (".ic v(a)=1", "a.cir:2:7: unknown node `a`"),
    ("C1 a 0 1\n.ic i(C1)=1", "a.cir:3:7: expected an inductor, found `C1`"),
    (".ic v(0)=1", "a.cir:2:7: expected a node other than ground, found `0`"),
    (".ic a=1", "a.cir:2:5: expected `v(node)=value`, found `a`"),
    (".ic v(a) 1", "a.cir:2:10: expected `=` after `v(a)`, found `1`"),
    (".model", "a.cir:2:7: expected the name of a model, found the end of the line"),
    (".model d1 d(is=1", "a.cir:2:17: expected `)`, found the end of the line"),
    (
        ".option saltus device=smooth reltol=1e-5",
        "a.cir:2:30: expected `device` or `method` after `.option saltus`, found `reltol`, which goes on an `.option` line of its own",
    ),
    (".option saltus devcie=ideal", "a.cir:2:16: unknown option `devcie`; did you mean `device`?"),
    (
        ".option saltus method=gear",
        "a.cir:2:23: expected `fixed`, `exact` or `adaptive`, found `gear`",
    ),
    (
        ".option saltus device=exact",
        "a.cir:2:23: expected `ideal`, `pwl` or `smooth`, found `exact`",
    ),
    (".option reltol", "a.cir:2:15: expected `=` after `reltol`, found the end of the line"),
    (
        ".control\nrun",
        "a.cir:2:1: `.control` is not closed: expected `.endc` before the end of the file",
    ),
    (".endc", "a.cir:2:1: `.endc` closes `.control`, and none is open"),
    (".print tran v(", "a.cir:2:15: expected a node, found the end of the expression"),
    (
        ".print tran @L1[p]",
        "a.cir:2:13: expected the current of a component, such as `@L1[i]`, found `@`",
    ),
    (".include other.inc", "a.cir:2:1: cannot read `other.inc`: no file other.inc"),
    (
        "+ 1k",
        "a.cir:2:1: a line that begins with `+` goes on with the line before it, but there is none",
    ),
    // measures
    (".meas", "a.cir:2:6: expected `tran`, found the end of the line"),
    (".meas tran", "a.cir:2:11: expected the name of the measure, found the end of the line"),
    (".meas trna x max v(a)", "a.cir:2:7: expected `tran`, found `trna`"),
    (
        ".meas tran x mean v(a)",
        "a.cir:2:14: expected `avg`, `rms`, `max`, `min`, `max_at`, `min_at`, `pp`, `integ`, `when`, `find`, `deriv`, `trig` or `param`, found `mean`",
    ),
    (
        ".meas tran x max v(a) form=1",
        "a.cir:2:23: unknown part of a measure `form`; did you mean `from`?",
    ),
    (".meas tran x when v(a)", "a.cir:2:23: expected `=`, found the end of the line"),
    (".meas tran x find v(a)", "a.cir:2:23: expected `when` or `at=`, found the end of the line"),
    (
        ".meas tran x trig v(a) val=1 rise=1",
        "a.cir:2:36: expected `targ`, found the end of the line",
    ),
    (".meas tran x trig v(a) rise=1 targ v(b) val=1", "a.cir:2:31: expected `val=`, found `targ`"),
    (
        ".meas tran x when v(a)=1 rise=0",
        "a.cir:2:31: the number of the edge is 0, expected a whole number from 1 on, or `last`",
    ),
    (".four 1k", "a.cir:2:9: expected a signal such as `v(out)`, found the end of the line"),
    (".four 0 v(a)", "a.cir:2:7: the frequency of `.four` is 0, expected more than 0"),
];

#[test]
fn messages() {
    let mut wrong = Vec::new();
    for (lines, expected) in WRONG {
        let found = message(lines);
        if found != *expected {
            wrong.push(format!("{lines:?}\n  found    {found}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), WRONG.len(), wrong.join("\n"));
}

#[test]
fn continued_lines_are_counted() {
    assert_eq!(
        message("R1 a b\n* comment\n\n  +  1k5"),
        "a.cir:5:6: `1k5` is not a number such as 4.7, 1e-3, 10u or 2.2kohm (digits cannot follow a suffix)"
    );
}

#[test]
fn deep_and_large() {
    let deep = format!("R1 a b {{{}1{}}}", "(".repeat(100), ")".repeat(100));
    assert_eq!(message(&deep), "a.cir:2:73: nested too deep: expected at most 64 levels");
    let signs = format!("R1 a b {{{}1}}", "-".repeat(100_000));
    assert!(message(&signs).ends_with("nested too deep: expected at most 64 levels"));
    let sum = format!("B1 a 0 v=v(a){}", "+v(a)".repeat(100_000));
    assert!(message(&sum).ends_with("too many bytes in a formula: expected at most 100000"));

    // 2⁴⁰ calls of a function, 2⁴⁰ resistors, 2⁴⁰ empty subcircuits
    let mut functions = String::from("R1 a 0 {f40(1)}\n.func f0(x) {x}\n");
    let mut calls = String::from(".subckt s0 a\n.ends\n");
    for k in 1..=40 {
        let before = k - 1;
        functions.push_str(&format!(".func f{k}(x) {{f{before}(x)+f{before}(x)}}\n"));
        calls.push_str(&format!(".subckt s{k} a\nX1 a s{before}\nX2 a s{before}\n.ends\n"));
    }
    assert!(
        message(&functions)
            .ends_with("too many operations in an expression: expected at most 100000")
    );
    calls.push_str("X1 a s40");
    assert!(message(&calls).ends_with("too many calls of subcircuits: expected at most 250000"));
    let mut chain = String::from(".subckt s0 a\n.ends\n");
    for k in 1..=1000 {
        chain.push_str(&format!(".subckt s{k} a\nX1 a s{}\n.ends\n", k - 1));
    }
    chain.push_str("X1 a s1000");
    assert!(message(&chain).ends_with("nested too deep: expected at most 100 levels"));
    let nested = ".subckt s a\n".repeat(100);
    assert!(message(&nested).ends_with("nested too deep: expected at most 64 levels"));

    // a chain of parameters may be long where each comes after those it needs
    let mut parameters = String::from(".param p0=1\nR1 a 0 {p5000}\n");
    for k in 1..=5000 {
        parameters.push_str(&format!(".param p{k}={{p{}+1}}\n", k - 1));
    }
    let resistance = crate::device(&crate::circuit(&parameters), "R1");
    assert!(matches!(resistance, saltus_circuits::Device::Resistor { resistance: 5001.0, .. }));
}
