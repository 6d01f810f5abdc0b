//! Random changes of right netlists: whatever comes of them is an answer, soon, and never a panic.

use std::path::Path;
use std::time::{Duration, Instant};

use saltus_circuits::{Deck, NetlistError, ProbedFormula};

/// Netlists of every kind of line.
const CORPUS: &[&str] = &[
    "buck converter\n.param vin=12 fs=100k d=0.5 T={1/fs}\nV1 in 0 {vin}\nS1 in sw g 0 swm\nD1 0 sw dm\nL1 sw out 47u ic=0\n\
     C1 out 0 100uF ic=5\nRload out 0 2.5ohm\nVg g 0 PULSE(0 5 0 1n 1n {d*T} {T})\n.model swm SW(vt=2.5 vh=0.5 ron=10m roff=1meg)\n\
     .model dm D(is=1e-14 n=1.1 rs=10m vj=0.7 cjo=10p)\n.tran 10n 2m 1m uic\n.ic v(out)=5\n.options reltol=1m abstol=1n\n\
     .save v(out) i(L1)\n.meas tran vavg AVG v(out) from=1m to=2m\n.meas tran ripple PP v(out) from=1.9m\n.four 100k v(sw)\n.end\n",
    "subcircuits\n.subckt inv in out vdd params: wn=1u wp={2*wn}\nM1 out in 0 0 nm W={wn} L=1u\nM2 out in vdd vdd pm W={wp} L=1u\n\
     .model nm nmos(level=1 vto=0.7 kp=100u lambda=0.01 cgso=1n)\n.model pm pmos(vto=-0.7 kp=50u)\n.subckt deep a b\nR1 a b 1k\n.ends\n\
     Xd in out deep\n.ends inv\n.global vdd\nX1 a b vdd inv\nX2 b c vdd inv wn=2u\nVd vdd 0 3.3\nVi a 0 PWL(0 0 1n 3.3, 2n 3.3 3n 0) r=0 td=1n\n\
     Cl c 0 10f\n.tran 1p 10n\n.print tran v(a) v(b,c) @Cl[i]\n.meas tran td TRIG v(a) VAL=1.65 RISE=1 TARG v(b) VAL=1.65 FALL=LAST\n",
    "behaviour\n.func sat(x,l) {max(-l, min(l, x))}\n.param k=2 pi2='2*pi'\nV1 a 0 DC 1 AC 1 SIN(0 1 1k 0 0 90)\nI1 0 b EXP(0 1m 1u 2u 3u 4u)\n\
     R1 a b 1meg tc1=1m\nB1 c 0 V=sat(v(a)*k, 5) + i(V1)**2 - (v(b) > 0 ? 1 : u(v(a))) && 1\nE1 d 0 POLY(2) a 0 b 0 0 1 2 3 4\n\
     E2 e 0 TABLE {v(a,b)} = (-1,-10) (0,0) (1,10)\nG1 0 f VALUE={2*v(a)}\nF1 0 g V1 10\nH1 h 0 V1 5\nR2 c d 1\nR3 e f 1\nR4 g h 1k\n\
     L1 f 0 1m\nL2 g 0 2mH\nK1 L1 L2 0.99\nQ1 a b 0 qn 2\n.model qn NPN(bf=100 is=1e-15 vaf=50 rb=10)\nX1 a b o op\n\
     .model op opamp(gain=1e5 low=-12 high=12)\nX3 a b o 0 tr\n.model tr transformer(ratio=2)\nW1 a b V1 cs on\n.model cs csw(it=1m ih=0.1m)\n\
     .option saltus device=smooth\n.temp 50\n.control\nset x=1\ntran 1u 1m\nrun\nprint v(a) b\nwrdata f.txt v(c)\nmeas tran m1 FIND v(a) WHEN v(b)=0.5 CROSS=2\nlet z = 1\n.endc\n\
     .meas tran p PARAM='m1*2'\n.include lib.inc\n.lib lib.lib fast\n",
];

const LIBRARY: &str = "* library\n.lib fast\n.param speed=1\nR9 a 0 {speed}\n.endl fast\n.lib slow\n.param speed=2\n.endl\n";
const INCLUDED: &str = "* included\nC9 a 0 1n\n+ ic=1\n.param inc=3\n";

/// Words that netlists are made of, and some that they are not.
const PIECES: &[&str] = &[
    "0",
    "1",
    "-1",
    "1k",
    "1k5",
    "1e400",
    "1e-400",
    "inf",
    "nan",
    "a",
    "b",
    "v(a)",
    "v(a,b)",
    "i(V1)",
    "i(L1)",
    "time",
    "{",
    "}",
    "(",
    ")",
    "'",
    "\"",
    "=",
    ",",
    ";",
    "$ ",
    "+",
    "-",
    "*",
    "/",
    "^",
    "**",
    "?",
    ":",
    "&&",
    "||",
    "!",
    "<",
    ">=",
    "%",
    "\n",
    "\n+",
    "\n*",
    "\r\n",
    "\t",
    " ",
    "µ",
    "λ",
    "\0",
    "\u{a0}",
    ".param",
    ".param a={a}",
    ".subckt s a b",
    ".ends",
    "X1 a b s",
    "X9 a b vdd inv",
    ".model dm D",
    ".include lib.inc",
    ".include a.cir",
    ".lib lib.lib",
    ".endl",
    ".control",
    ".endc",
    ".end",
    ".tran 1u 1m",
    ".func f(x) {f(x)+f(x)}",
    "f(1)",
    "sat(1,2)",
    "PULSE(",
    "SIN(0 1)",
    "PWL(0 0 1 1)",
    "POLY(3)",
    "TABLE",
    "params:",
    "w=1",
    "ic=",
    "18446744073709551616",
    "0.1.2",
    "#branch",
    "@L1[i]",
    "par('",
    "TRIG",
    "TARG",
    "WHEN",
    "val=1",
    "rise=1",
    "last",
    "from=0",
    "gnd",
    "saltus=pwl",
    "device=ideal",
    "J1 a b c",
    "K2 L1 L2 L1 1",
];

/// A small generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// A text with a few random changes of bytes, words or lines.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        match random.below(7) {
            // a letter becomes another, or goes
            0 => {
                let at = text.floor_char_boundary(random.below(text.len()));
                if let Some(letter) = text[at..].chars().next() {
                    let other = char::from(random.below(128) as u8).to_string();
                    let other = if random.below(3) == 0 { "" } else { &other };
                    text.replace_range(at..at + letter.len_utf8(), other);
                }
            }
            // a piece is put in
            1 | 2 => {
                let at = text.floor_char_boundary(random.below(text.len() + 1));
                text.insert_str(at, PIECES[random.below(PIECES.len())]);
            }
            // a word becomes a piece, or another word of the text
            3 | 4 => {
                let words: Vec<&str> = text.split_whitespace().collect();
                if let Some(&word) = words.get(random.below(words.len())) {
                    let at = word.as_ptr() as usize - text.as_ptr() as usize;
                    let with = match random.below(2) {
                        0 => PIECES[random.below(PIECES.len())].to_owned(),
                        _ => words[random.below(words.len())].to_owned(),
                    };
                    let range = at..at + word.len();
                    text.replace_range(range, &with);
                }
            }
            // lines are left out, doubled or swapped
            _ => {
                let mut lines: Vec<&str> = text.lines().collect();
                let (a, b) = (random.below(lines.len()), random.below(lines.len()));
                if !lines.is_empty() {
                    match random.below(3) {
                        0 => drop(lines.remove(a)),
                        1 => lines.insert(b, lines[a]),
                        _ => lines.swap(a, b),
                    }
                }
                text = lines.join("\n");
            }
        }
    }
    text
}

/// Everything that can be asked of a text.
fn all_of(text: &str) -> Result<usize, NetlistError> {
    let files = |path: &Path| match path.to_str() {
        Some("lib.inc") => Ok(INCLUDED.to_owned()),
        Some("lib.lib") => Ok(LIBRARY.to_owned()),
        Some("a.cir") => Ok(text.to_owned()),
        _ => Err("no such file".to_owned()),
    };
    let mut deck = Deck::parse_with(text, "a.cir", files)?;
    for name in ["vin", "Rload", "X1.Xd.R1", "V1", "no.such", "."] {
        let _ = deck.set(name, 1.5);
    }
    let analysis = deck.analysis()?;
    let circuit = deck.circuit()?;
    // what is in a circuit can be used
    let names = circuit.nodes.len();
    for component in &circuit.components {
        use saltus_circuits::{Control, Device};
        match &component.device {
            Device::BehavioralVoltage { formula, .. }
            | Device::BehavioralCurrent { formula, .. } => {
                assert!(ProbedFormula::parse(formula).is_ok(), "{text:?}: {formula}");
            }
            Device::ControlledVoltage { control: Control::Current(by), .. }
            | Device::ControlledCurrent { control: Control::Current(by), .. }
            | Device::Switch { control: Control::Current(by), .. } => {
                assert!(*by < circuit.components.len(), "{text:?}");
            }
            Device::Resistor { between, resistance } => {
                assert!(between.iter().all(|node| node.0 < names), "{text:?}");
                assert!(!resistance.is_nan(), "{text:?}");
            }
            device => assert!(!format!("{device:?}").contains("NaN"), "{text:?}: {device:?}"),
        }
    }
    Ok(circuit.components.len() + analysis.outputs.len())
}

fn fuzz(count: usize, seed: u64) {
    let mut random = Random(seed);
    let (mut right, mut wrong) = (0, 0);
    let mut slowest = Duration::ZERO;
    for text in CORPUS {
        if let Err(error) = all_of(text) {
            panic!("{error}");
        }
    }
    for _ in 0..count {
        let text = mutated(CORPUS[random.below(CORPUS.len())], &mut random);
        let start = Instant::now();
        match all_of(&text) {
            Ok(_) => right += 1,
            Err(error) => {
                wrong += 1;
                assert!(!error.to_string().is_empty());
                let place = &error.place;
                assert!(place.line >= 1 && place.column >= 1, "{text:?}: {error}");
                if place.file == "a.cir" {
                    assert!(place.line <= text.lines().count().max(1), "{text:?}: {error}");
                }
            }
        }
        let taken = start.elapsed();
        assert!(taken < Duration::from_secs(10), "{taken:?} for {text:?}");
        slowest = slowest.max(taken);
    }
    assert!(right > count / 20 && wrong > count / 20, "{right} right, {wrong} wrong");
    if count > 100_000 {
        #[expect(clippy::print_stderr)]
        {
            eprintln!("{count} netlists: {right} right, {wrong} wrong, slowest {slowest:?}");
        }
    }
}

#[test]
fn mutated_netlists() {
    fuzz(20_000, 0x5a17);
}

/// `cargo test --release -p saltus-circuits --test netlist -- --ignored --nocapture million`
#[test]
#[ignore = "a million netlists take a while"]
fn a_million_mutated_netlists() {
    fuzz(1_000_000, 0xc17c);
}
