//! The functions of SPICE, as formulas of `saltus-expr`.

/// A function: its name, how many arguments it takes, and its formula in them, `$0`, `$1`, `$2`, or `$*` for all.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) least: usize,
    pub(crate) most: usize,
    pub(crate) formula: &'static str,
}

const MANY: usize = usize::MAX;

const fn known(name: &'static str, least: usize, most: usize, formula: &'static str) -> Known {
    Known { name, least, most, formula }
}

/// All of them.
pub(crate) const FUNCTIONS: &[Known] = &[
    known("abs", 1, 1, "abs($0)"),
    known("acos", 1, 1, "acos($0)"),
    known("acosh", 1, 1, "log(($0) + sqrt(($0)^2 - 1))"),
    known("arctan", 1, 1, "atan($0)"),
    known("asin", 1, 1, "asin($0)"),
    known("asinh", 1, 1, "sign($0)*log(abs($0) + sqrt(($0)^2 + 1))"),
    known("atan", 1, 1, "atan($0)"),
    known("atan2", 2, 2, "atan2($0, $1)"),
    known("atanh", 1, 1, "log((1 + ($0))/(1 - ($0)))/2"),
    known("buf", 1, 1, "if(($0) > 0.5, 1, 0)"),
    known("ceil", 1, 1, "ceil($0)"),
    known("cos", 1, 1, "cos($0)"),
    known("cosh", 1, 1, "cosh($0)"),
    known("eq0", 1, 1, "if(($0) == 0, 1, 0)"),
    known("exp", 1, 1, "exp($0)"),
    known("floor", 1, 1, "floor($0)"),
    known("fmod", 2, 2, "sign($0)*mod(abs($0), abs($1))"),
    known("ge0", 1, 1, "if(($0) >= 0, 1, 0)"),
    known("gt0", 1, 1, "if(($0) > 0, 1, 0)"),
    known("hypot", 2, 2, "hypot($0, $1)"),
    known("if", 3, 3, "if($0, $1, $2)"),
    known("int", 1, 1, "sign($0)*floor(abs($0))"),
    known("inv", 1, 1, "if(($0) > 0.5, 0, 1)"),
    known("le0", 1, 1, "if(($0) <= 0, 1, 0)"),
    known("limit", 3, 3, "clamp($0, min($1, $2), max($1, $2))"),
    known("ln", 1, 1, "log($0)"),
    known("log", 1, 1, "log($0)"),
    known("log10", 1, 1, "log10($0)"),
    known("lt0", 1, 1, "if(($0) < 0, 1, 0)"),
    known("max", 1, MANY, "max($*)"),
    known("min", 1, MANY, "min($*)"),
    known("ne0", 1, 1, "if(($0) != 0, 1, 0)"),
    known("nint", 1, 1, "if(mod($0, 2) == 0.5, floor($0), floor(($0) + 0.5))"),
    known("pow", 2, 2, "($0)^($1)"),
    known("pwl", 5, MANY, "table($*)"),
    known("pwr", 2, 2, "abs($0)^($1)"),
    known("pwrs", 2, 2, "sign($0)*abs($0)^($1)"),
    known("round", 1, 1, "round($0)"),
    known("sgn", 1, 1, "sign($0)"),
    known("sign", 1, 1, "sign($0)"),
    known("sin", 1, 1, "sin($0)"),
    known("sinh", 1, 1, "sinh($0)"),
    known("sqr", 1, 1, "($0)^2"),
    known("sqrt", 1, 1, "sqrt($0)"),
    known("stp", 1, 1, "heaviside($0)"),
    known("table", 5, MANY, "table($*)"),
    known("tan", 1, 1, "tan($0)"),
    known("tanh", 1, 1, "tanh($0)"),
    known("ternary_fcn", 3, 3, "if($0, $1, $2)"),
    known("trunc", 1, 1, "sign($0)*floor(abs($0))"),
    known("u", 1, 1, "heaviside($0)"),
    known("u2", 1, 1, "clamp($0, 0, 1)"),
    known("uramp", 1, 1, "max($0, 0)"),
];

/// Functions that some SPICE has, and what they are.
pub(crate) const NOT_SUPPORTED: &[(&str, &str)] = &[
    ("agauss", "a random number"),
    ("aunif", "a random number"),
    ("gauss", "a random number"),
    ("unif", "a random number"),
    ("rand", "a random number"),
    ("random", "a random number"),
    ("white", "noise"),
    ("ddt", "a derivative in time"),
    ("sdt", "an integral over time"),
    ("idt", "an integral over time"),
    ("idtmod", "an integral over time"),
    ("delay", "a delayed signal"),
    ("absdelay", "a delayed signal"),
    ("vdb", "a quantity of the analysis `.ac`"),
    ("vm", "a quantity of the analysis `.ac`"),
    ("vp", "a quantity of the analysis `.ac`"),
    ("vr", "a quantity of the analysis `.ac`"),
    ("vi", "a quantity of the analysis `.ac`"),
];

/// Names with a value, unless a parameter has them.
pub(crate) const CONSTANTS: &[(&str, f64)] = &[
    ("pi", std::f64::consts::PI),
    ("e", std::f64::consts::E),
    ("c", 299_792_458.0),
    ("kelvin", -273.15),
    ("echarge", 1.602_176_634e-19),
    ("boltz", 1.380_649e-23),
    ("planck", 6.626_070_15e-34),
    ("true", 1.0),
    ("yes", 1.0),
    ("false", 0.0),
    ("no", 0.0),
];

/// Whether a function has this name.
pub(crate) fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|known| known.name == name)
}

impl Known {
    /// How many arguments it takes, in words.
    pub(crate) fn arguments(&self) -> String {
        match (self.least, self.most) {
            (1, 1) => "1 argument".to_owned(),
            (least, most) if least == most => format!("{least} arguments"),
            (least, _) => format!("at least {least} arguments"),
        }
    }

    /// Its formula with these arguments.
    pub(crate) fn formula(&self, arguments: &[String]) -> String {
        let mut text = String::with_capacity(
            self.formula.len() + arguments.iter().map(String::len).sum::<usize>(),
        );
        let mut rest = self.formula;
        while let Some((before, after)) = rest.split_once('$') {
            text.push_str(before);
            rest = &after[1..];
            match after.as_bytes()[0] {
                b'*' => text.push_str(&arguments.join(", ")),
                digit => text.push_str(&arguments[usize::from(digit - b'0')]),
            }
        }
        text.push_str(rest);
        text
    }

    /// Whether the formula is a call, which no operator around it can tear apart.
    pub(crate) fn is_call(&self) -> bool {
        let mut depth = 0;
        let closes = self.formula.bytes().position(|byte| {
            depth += i32::from(byte == b'(') - i32::from(byte == b')');
            byte == b')' && depth == 0
        });
        let is_named = self.formula.starts_with(|c: char| c.is_ascii_alphabetic());
        is_named && closes == Some(self.formula.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_expr::Formula;

    #[test]
    fn every_formula_is_one() {
        for known in FUNCTIONS {
            let arguments: Vec<String> = ["0.5", "1.5", "2.5", "3.5", "4.5"].map(str::to_owned)
                [..if known.most == MANY { 5 } else { known.least }]
                .to_vec();
            let formula = Formula::parse(&known.formula(&arguments), &[]);
            assert!(formula.is_ok(), "{}: {formula:?}", known.name);
        }
        assert!(FUNCTIONS.is_sorted_by_key(|known| known.name));
    }

    #[test]
    fn values() {
        for (name, arguments, value) in [
            ("acosh", &["2"][..], 2f64.acosh()),
            ("asinh", &["-2"], (-2f64).asinh()),
            ("atanh", &["0.5"], 0.5f64.atanh()),
            ("fmod", &["-7", "3"], -1.0),
            ("int", &["-1.7"], -1.0),
            ("limit", &["7", "5", "-5"], 5.0),
            ("nint", &["2.5"], 2.0),
            ("nint", &["3.5"], 4.0),
            ("nint", &["-2.5"], -2.0),
            ("nint", &["-1.5"], -2.0),
            ("nint", &["2.7"], 3.0),
            ("nint", &["-2.2"], -2.0),
            ("round", &["2.5"], 3.0),
            ("pwr", &["-2", "3"], 8.0),
            ("pwrs", &["-2", "3"], -8.0),
            ("uramp", &["-2"], 0.0),
            ("u2", &["0.25"], 0.25),
            ("pwl", &["0.5", "0", "0", "1", "10"], 5.0),
            ("max", &["1", "3", "2"], 3.0),
        ] {
            let known = FUNCTIONS.iter().find(|known| known.name == name).unwrap();
            let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
            let found = Formula::parse(&known.formula(&arguments), &[]).unwrap().eval(&[]);
            assert!((found - value).abs() < 1e-15, "{name}: {found}");
        }
    }
}
