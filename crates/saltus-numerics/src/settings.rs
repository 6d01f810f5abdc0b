//! Settings of the methods: plain data, one struct a method.

use crate::NumericsError;
use serde::{Deserialize, Serialize};

/// The largest tolerance: residuals are relative, and one of 1 is no answer.
pub const LARGEST_TOL: f64 = 0.1;

/// Which method solves a problem, with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Solver {
    /// A portfolio: warm-started pivoting first, then whatever it takes.
    Auto(AutoSettings),
    /// Warm-started principal pivoting with a cache of modes.
    Pivoting(PivotingSettings),
    /// Lemke's method with the lexicographic rule.
    Lemke(LemkeSettings),
    /// Gauss–Seidel by blocks, each solved exactly.
    GaussSeidel(GaussSeidelSettings),
    /// Semismooth Newton on the Fischer–Burmeister function.
    FischerBurmeister(FischerBurmeisterSettings),
    /// All modes in turn: small problems only.
    Enumeration(EnumerationSettings),
    /// Semismooth Newton with a proximal term.
    Newton(NewtonSettings),
    /// Primal-dual interior point.
    InteriorPoint(InteriorPointSettings),
    /// Alternating directions, with one factorization for many iterations.
    Admm(AdmmSettings),
    /// Extragradient method with a step that adapts itself.
    Extragradient(ExtragradientSettings),
}

impl Default for Solver {
    fn default() -> Self {
        Solver::Auto(AutoSettings::default())
    }
}

/// Settings of [`Auto`](crate::methods::Auto).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutoSettings {
    /// The answer's residual is at most this (see [`residual`](crate::residual)). Default 1e-8.
    pub tol: f64,
    /// Iterations that each method of the portfolio may use, and after which no further one is
    /// tried. Default 10 000.
    pub max_iter: usize,
    /// Threads that look for the contacts of a scene, at most 256; 0: one for each core. The answers are
    /// the same, bit for bit, for any number. Default 1.
    pub threads: usize,
}

/// Most modes that a cache can be asked to keep: 4096 of 64 unknowns take 130 MB.
const MOST_MODES: usize = 4096;

/// Most threads that a method can be asked to use.
const MOST_THREADS: usize = 256;

/// Threads that a setting means: none stands for one for each core.
pub(crate) fn threads_of(setting: usize) -> usize {
    match setting {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        threads => threads,
    }
}

/// Settings of [`Pivoting`](crate::methods::Pivoting).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PivotingSettings {
    /// The answer's residual is at most this. Default 1e-8.
    pub tol: f64,
    /// Changes of mode before giving up. Default 10 000.
    pub max_iter: usize,
    /// Modes whose affine map is kept (dense problems of at most 64 unknowns), at most 4096.
    /// Default 64.
    pub cache: usize,
}

/// Settings of [`Lemke`](crate::methods::Lemke).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LemkeSettings {
    /// The answer's residual is at most this. Default 1e-8.
    pub tol: f64,
    /// Pivots before giving up. Default 10 000.
    pub max_iter: usize,
}

/// Settings of [`GaussSeidel`](crate::methods::GaussSeidel).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GaussSeidelSettings {
    /// The answer's residual is at most this. Default 1e-8.
    pub tol: f64,
    /// Sweeps before giving up. Default 10 000.
    pub max_iter: usize,
    /// Relaxation ω in (0, 2): below 1 damps, above 1 over-relaxes. Default 1.
    pub relaxation: f64,
    /// Prolong the steps between sweeps as in the method of conjugate gradients. Default true.
    pub accelerate: bool,
    /// Visit a block that did not move in so many sweeps only once in so many; 0 means always.
    /// Default 0.
    pub freeze: usize,
    /// Threads that share a sweep, at most 256; 0 means one for each core. More than one sweep by
    /// colours. Default 1.
    pub threads: usize,
    /// Sweep by colours, blocks that do not see each other at once: the same answers, bit for
    /// bit, for any number of threads. Default false: in the order of the blocks.
    pub coloured: bool,
}

/// Settings of [`FischerBurmeister`](crate::methods::FischerBurmeister).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FischerBurmeisterSettings {
    /// The answer's residual is at most this. Default 1e-8.
    pub tol: f64,
    /// Newton steps before giving up. Default 1000.
    pub max_iter: usize,
}

/// Settings of [`Enumeration`](crate::methods::Enumeration).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EnumerationSettings {
    /// The answer's residual is at most this. Default 1e-8.
    pub tol: f64,
    /// Modes to try before giving up. Default 1 000 000.
    pub max_iter: usize,
}

/// Settings of [`Newton`](crate::methods::Newton).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewtonSettings {
    /// The answer's residual is at most this. Default 1e-8.
    pub tol: f64,
    /// Steps before giving up. Default 500.
    pub max_iter: usize,
    /// Size of the proximal term relative to the residual, at least 0. Default 1.
    pub proximal: f64,
    /// Steps without a tenth less residual before giving up. Default 60.
    pub patience: usize,
    /// The equations that stand for the laws. Default Alart and Curnier's.
    pub function: NewtonFunction,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        let function = NewtonFunction::default();
        NewtonSettings { tol: 1e-8, max_iter: 500, proximal: 1.0, patience: 60, function }
    }
}

/// The equations `f(z, w) = 0` that stand for the laws in [`Newton`](crate::methods::Newton): all of
/// them have the same solutions, and other derivatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewtonFunction {
    /// For friction that of Alart and Curnier, the disk's radius by the predicted normal force; for
    /// the other sets the natural map.
    #[default]
    AlartCurnier,
    /// The same with the radius by the normal force itself, after Jean and Moreau.
    JeanMoreau,
    /// `z − P(z − ρ (w + φ(w) e_N))` for all sets.
    NaturalMap,
    /// That of Fischer and Burmeister, in the Jordan algebra of the cone for `SecondOrder`,
    /// `Coulomb2`, `Coulomb3` and `DruckerPrager`, for each unknown of a box; for the other sets that of
    /// Alart and Curnier.
    FischerBurmeister,
}

/// Settings of [`InteriorPoint`](crate::methods::InteriorPoint).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InteriorPointSettings {
    /// The answer's residual is at most this. Default 1e-8.
    pub tol: f64,
    /// Steps before Newton's method takes over; 10 to 40 are usual. Default 100.
    pub max_iter: usize,
}

impl Default for InteriorPointSettings {
    fn default() -> Self {
        InteriorPointSettings { tol: 1e-8, max_iter: 100 }
    }
}

/// Settings of [`Admm`](crate::methods::Admm).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdmmSettings {
    /// The answer's residual is at most this. Default 1e-8.
    pub tol: f64,
    /// Iterations before giving up. Default 10 000.
    pub max_iter: usize,
    /// The penalty to begin with, relative to the diagonal of `W`; more than 0. Default 0.1.
    pub rho: f64,
}

impl Default for AdmmSettings {
    fn default() -> Self {
        AdmmSettings { tol: 1e-8, max_iter: 10_000, rho: 0.1 }
    }
}

/// Settings of [`Extragradient`](crate::methods::Extragradient).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtragradientSettings {
    /// The answer's residual is at most this. Default 1e-8.
    pub tol: f64,
    /// Iterations before giving up. Default 20 000.
    pub max_iter: usize,
}

impl Default for ExtragradientSettings {
    fn default() -> Self {
        ExtragradientSettings { tol: 1e-8, max_iter: 20_000 }
    }
}

impl Default for AutoSettings {
    fn default() -> Self {
        AutoSettings { tol: 1e-8, max_iter: 10_000, threads: 1 }
    }
}

impl Default for PivotingSettings {
    fn default() -> Self {
        PivotingSettings { tol: 1e-8, max_iter: 10_000, cache: 64 }
    }
}

impl Default for LemkeSettings {
    fn default() -> Self {
        LemkeSettings { tol: 1e-8, max_iter: 10_000 }
    }
}

impl Default for GaussSeidelSettings {
    fn default() -> Self {
        GaussSeidelSettings {
            tol: 1e-8,
            max_iter: 10_000,
            relaxation: 1.0,
            accelerate: true,
            freeze: 0,
            threads: 1,
            coloured: false,
        }
    }
}

impl Default for FischerBurmeisterSettings {
    fn default() -> Self {
        FischerBurmeisterSettings { tol: 1e-8, max_iter: 1000 }
    }
}

impl Default for EnumerationSettings {
    fn default() -> Self {
        EnumerationSettings { tol: 1e-8, max_iter: 1_000_000 }
    }
}

impl Solver {
    /// The names of the methods, as model files, the command line and Python write them.
    pub const NAMES: [&'static str; 10] = [
        "auto",
        "pivoting",
        "lemke",
        "gauss-seidel",
        "fischer-burmeister",
        "enumeration",
        "newton",
        "interior-point",
        "admm",
        "extragradient",
    ];

    /// The method of that name with its default settings.
    pub fn from_name(name: &str) -> Option<Solver> {
        match name {
            "auto" => Some(Solver::Auto(Default::default())),
            "pivoting" => Some(Solver::Pivoting(Default::default())),
            "lemke" => Some(Solver::Lemke(Default::default())),
            "gauss-seidel" => Some(Solver::GaussSeidel(Default::default())),
            "fischer-burmeister" => Some(Solver::FischerBurmeister(Default::default())),
            "enumeration" => Some(Solver::Enumeration(Default::default())),
            "newton" => Some(Solver::Newton(Default::default())),
            "interior-point" => Some(Solver::InteriorPoint(Default::default())),
            "admm" => Some(Solver::Admm(Default::default())),
            "extragradient" => Some(Solver::Extragradient(Default::default())),
            _ => None,
        }
    }

    /// The method's name.
    pub fn name(&self) -> &'static str {
        match self {
            Solver::Auto(_) => "auto",
            Solver::Pivoting(_) => "pivoting",
            Solver::Lemke(_) => "lemke",
            Solver::GaussSeidel(_) => "gauss-seidel",
            Solver::FischerBurmeister(_) => "fischer-burmeister",
            Solver::Enumeration(_) => "enumeration",
            Solver::Newton(_) => "newton",
            Solver::InteriorPoint(_) => "interior-point",
            Solver::Admm(_) => "admm",
            Solver::Extragradient(_) => "extragradient",
        }
    }

    /// The residual that its answers must reach.
    pub fn tol(&self) -> f64 {
        match self {
            Solver::Auto(s) => s.tol,
            Solver::Pivoting(s) => s.tol,
            Solver::Lemke(s) => s.tol,
            Solver::GaussSeidel(s) => s.tol,
            Solver::FischerBurmeister(s) => s.tol,
            Solver::Enumeration(s) => s.tol,
            Solver::Newton(s) => s.tol,
            Solver::InteriorPoint(s) => s.tol,
            Solver::Admm(s) => s.tol,
            Solver::Extragradient(s) => s.tol,
        }
    }

    /// The threads that it may use, one at least.
    pub fn threads(&self) -> usize {
        match self {
            Solver::Auto(AutoSettings { threads, .. })
            | Solver::GaussSeidel(GaussSeidelSettings { threads, .. }) => threads_of(*threads),
            _ => 1,
        }
    }

    /// The same method with another tolerance.
    pub fn with_tol(mut self, tol: f64) -> Self {
        *(match &mut self {
            Solver::Auto(s) => &mut s.tol,
            Solver::Pivoting(s) => &mut s.tol,
            Solver::Lemke(s) => &mut s.tol,
            Solver::GaussSeidel(s) => &mut s.tol,
            Solver::FischerBurmeister(s) => &mut s.tol,
            Solver::Enumeration(s) => &mut s.tol,
            Solver::Newton(s) => &mut s.tol,
            Solver::InteriorPoint(s) => &mut s.tol,
            Solver::Admm(s) => &mut s.tol,
            Solver::Extragradient(s) => &mut s.tol,
        }) = tol;
        self
    }

    /// The same method with another iteration limit.
    pub fn with_max_iter(mut self, max_iter: usize) -> Self {
        *(match &mut self {
            Solver::Auto(s) => &mut s.max_iter,
            Solver::Pivoting(s) => &mut s.max_iter,
            Solver::Lemke(s) => &mut s.max_iter,
            Solver::GaussSeidel(s) => &mut s.max_iter,
            Solver::FischerBurmeister(s) => &mut s.max_iter,
            Solver::Enumeration(s) => &mut s.max_iter,
            Solver::Newton(s) => &mut s.max_iter,
            Solver::InteriorPoint(s) => &mut s.max_iter,
            Solver::Admm(s) => &mut s.max_iter,
            Solver::Extragradient(s) => &mut s.max_iter,
        }) = max_iter;
        self
    }

    /// Checks the ranges of the settings.
    pub fn check(&self) -> Result<(), NumericsError> {
        let tol = self.tol();
        if !(tol > 0.0 && tol <= LARGEST_TOL) {
            let (field, allowed) = ("tol", "(0, 0.1]");
            return Err(NumericsError::Setting { field, value: tol, allowed });
        }
        if let Solver::Pivoting(s) = self
            && s.cache > MOST_MODES
        {
            let (field, allowed) = ("cache", "[0, 4096]");
            return Err(NumericsError::Setting { field, value: s.cache as f64, allowed });
        }
        if let Solver::Newton(s) = self
            && !(s.proximal >= 0.0 && s.proximal.is_finite())
        {
            let (field, allowed) = ("proximal", "[0, inf)");
            return Err(NumericsError::Setting { field, value: s.proximal, allowed });
        }
        if let Solver::GaussSeidel(s) = self
            && !(s.relaxation > 0.0 && s.relaxation < 2.0)
        {
            let (field, allowed) = ("relaxation", "(0, 2)");
            return Err(NumericsError::Setting { field, value: s.relaxation, allowed });
        }
        if let Solver::GaussSeidel(GaussSeidelSettings { threads, .. })
        | Solver::Auto(AutoSettings { threads, .. }) = self
            && *threads > MOST_THREADS
        {
            let (field, allowed) = ("threads", "[0, 256]");
            return Err(NumericsError::Setting { field, value: *threads as f64, allowed });
        }
        if let Solver::Admm(s) = self
            && !(s.rho > 0.0 && s.rho.is_finite())
        {
            let (field, allowed) = ("rho", "(0, inf)");
            return Err(NumericsError::Setting { field, value: s.rho, allowed });
        }
        Ok(())
    }
}
