//! What each operation computes: the one place for it, used by folding and by evaluation.

/// An operation on one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unary {
    Neg,
    Not,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Ln,
    Log10,
    Log2,
    Sqrt,
    Abs,
    Sign,
    Floor,
    Ceil,
    Round,
    Heaviside,
}

impl Unary {
    #[inline(always)]
    pub(crate) fn apply(self, a: f64) -> f64 {
        match self {
            Unary::Neg => -a,
            Unary::Not => number(!is_true(a)),
            Unary::Sin => a.sin(),
            Unary::Cos => a.cos(),
            Unary::Tan => a.tan(),
            Unary::Asin => a.asin(),
            Unary::Acos => a.acos(),
            Unary::Atan => a.atan(),
            Unary::Sinh => a.sinh(),
            Unary::Cosh => a.cosh(),
            Unary::Tanh => a.tanh(),
            Unary::Exp => a.exp(),
            Unary::Ln => a.ln(),
            Unary::Log10 => a.log10(),
            Unary::Log2 => a.log2(),
            Unary::Sqrt => a.sqrt(),
            Unary::Abs => a.abs(),
            Unary::Sign => sign(a),
            Unary::Floor => a.floor(),
            Unary::Ceil => a.ceil(),
            Unary::Round => a.round(),
            Unary::Heaviside => heaviside(a),
        }
    }
}

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    Hypot,
    Mod,
    Min,
    Max,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

impl Binary {
    #[inline(always)]
    pub(crate) fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
            Binary::Div => a / b,
            Binary::Pow => pow(a, b),
            Binary::Atan2 => a.atan2(b),
            Binary::Hypot => a.hypot(b),
            Binary::Mod => modulo(a, b),
            // not f64::min and f64::max, which swallow a NaN
            Binary::Min => {
                if a < b || a.is_nan() {
                    a
                } else {
                    b
                }
            }
            Binary::Max => {
                if a > b || a.is_nan() {
                    a
                } else {
                    b
                }
            }
            Binary::Less => number(a < b),
            Binary::LessEqual => number(a <= b),
            Binary::Greater => number(a > b),
            Binary::GreaterEqual => number(a >= b),
            Binary::Equal => number(a == b),
            Binary::NotEqual => number(a != b),
            Binary::And => number(is_true(a) && is_true(b)),
            Binary::Or => number(is_true(a) || is_true(b)),
        }
    }
}

/// Whether a number, taken as a condition, holds.
pub(crate) fn is_true(a: f64) -> bool {
    a != 0.0
}

fn number(condition: bool) -> f64 {
    if condition { 1.0 } else { 0.0 }
}

/// −1, 0 or 1; NaN for NaN.
fn sign(a: f64) -> f64 {
    if a > 0.0 {
        1.0
    } else if a < 0.0 {
        -1.0
    } else {
        a // ±0 or NaN
    }
}

/// 1 from 0 on, 0 below; NaN for NaN.
fn heaviside(a: f64) -> f64 {
    if a.is_nan() { a } else { number(a >= 0.0) }
}

/// Exponents up to this size, if whole, are products.
pub(crate) const PRODUCTS: f64 = 16.0;

/// aᵇ. A whole exponent of at most 16 in size is a product of squares, a relative error of at most 16 roundings.
pub(crate) fn pow(a: f64, b: f64) -> f64 {
    if b == 2.0 {
        a * a
    } else if b.abs() <= PRODUCTS && b.trunc() == b {
        let power = product(a, b.abs() as u32);
        if b < 0.0 { 1.0 / power } else { power }
    } else {
        a.powf(b)
    }
}

/// aⁿ by squaring: a·a·a for 3, (a²)² for 4.
fn product(a: f64, n: u32) -> f64 {
    let (mut power, mut square, mut rest) = (1.0, a, n);
    while rest > 0 {
        if rest & 1 == 1 {
            power *= square;
        }
        square *= square;
        rest >>= 1;
    }
    power
}

/// a − b ⌊a/b⌋, from the exact remainder, which has the sign of `a`.
fn modulo(a: f64, b: f64) -> f64 {
    let remainder = a % b;
    if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) { remainder + b } else { remainder }
}
