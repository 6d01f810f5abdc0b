//! The words of `.model` cards: types, and what parameters have a meaning.

use crate::Polarity;

/// A kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Diode,
    VoltageSwitch,
    CurrentSwitch,
    Mos(Polarity),
    /// A power transistor; its polarity is a flag.
    PowerMos,
    Bipolar(Polarity),
    OpAmp,
    Comparator,
    Transformer,
    Resistor,
    Capacitor,
}

impl Kind {
    /// What a smooth device of this kind has, in words.
    pub(crate) fn smooth_words(self) -> &'static str {
        match self {
            Kind::Diode => "the exponential diode of `IS N RS CJO VJ M FC TT BV IBV`",
            Kind::VoltageSwitch => "`VT VH RON ROFF`, or `VON VOFF`",
            Kind::CurrentSwitch => "`IT IH RON ROFF`, or `ION IOFF`",
            Kind::Mos(_) => {
                "level 1 of `VTO KP LAMBDA GAMMA PHI W L LD IS RD RS CGSO CGDO CGBO CBD CBS PB MJ FC`"
            }
            Kind::PowerMos => "`VTO KP LAMBDA IS N RD RS RG CGS CGDMIN CJO VJ M FC TT BV IBV`",
            Kind::Bipolar(_) => {
                "Gummel and Poon's of `IS BF BR NF NR VAF VAR IKF IKR ISE NE ISC NC RB RC RE CJE VJE MJE TF CJC VJC MJC TR CJS FC`"
            }
            Kind::OpAmp | Kind::Comparator => "`gain low high offset`",
            Kind::Transformer => "`ratio`",
            Kind::Resistor => "`R RSH NARROW SHORT DEFW L TC1 TC2 TNOM`",
            Kind::Capacitor => "`CAP CJ CJSW NARROW SHORT DEFW DEFL TC1 TC2 TNOM`",
        }
    }
}

/// Names of types in lower case.
pub(crate) const KINDS: &[(&str, Kind)] = &[
    ("d", Kind::Diode),
    ("sw", Kind::VoltageSwitch),
    ("vswitch", Kind::VoltageSwitch),
    ("csw", Kind::CurrentSwitch),
    ("iswitch", Kind::CurrentSwitch),
    ("nmos", Kind::Mos(Polarity::N)),
    ("pmos", Kind::Mos(Polarity::P)),
    ("vdmos", Kind::PowerMos),
    ("vdmosn", Kind::PowerMos),
    ("vdmosp", Kind::PowerMos),
    ("npn", Kind::Bipolar(Polarity::N)),
    ("pnp", Kind::Bipolar(Polarity::P)),
    ("opamp", Kind::OpAmp),
    ("comparator", Kind::Comparator),
    ("transformer", Kind::Transformer),
    ("r", Kind::Resistor),
    ("res", Kind::Resistor),
    ("c", Kind::Capacitor),
];

/// Types of models that other SPICE have, and what they are.
pub(crate) const FOREIGN: &[(&str, &str)] = &[
    ("cpl", "coupled transmission lines"),
    ("l", "an inductor by its shape"),
    ("ltra", "a lossy transmission line"),
    ("nbjt", "a bipolar transistor solved in one dimension"),
    ("nbjt2", "a bipolar transistor solved in two dimensions"),
    ("nhfet", "a heterostructure field-effect transistor"),
    ("njf", "a junction field-effect transistor"),
    ("nmf", "a field-effect transistor of gallium arsenide"),
    ("numd", "a diode solved in one dimension"),
    ("numd2", "a diode solved in two dimensions"),
    ("numos", "a field-effect transistor solved in two dimensions"),
    ("phfet", "a heterostructure field-effect transistor"),
    ("pjf", "a junction field-effect transistor"),
    ("pmf", "a field-effect transistor of gallium arsenide"),
    ("txl", "a lossy transmission line"),
    ("urc", "a distributed RC line"),
];

/// Parameters of a type, in lower case, with blanks between them.
pub(crate) struct Vocabulary {
    /// Those with a meaning.
    pub(crate) used: &'static str,
    /// Those with a meaning for smooth devices only.
    pub(crate) smooth: &'static str,
    /// Those that SPICE knows beside them.
    pub(crate) known: &'static str,
}

impl Vocabulary {
    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static str> {
        [self.used, self.smooth, self.known].into_iter().flat_map(str::split_whitespace)
    }
}

/// Whether a list has a word.
pub(crate) fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|one| one == word)
}

/// Parameters that change nothing in a run: noise, ratings, and what counts at another temperature only.
pub(crate) const NEUTRAL: &str = "mfg type tnom tref af kf eg xti xtb keg trs trs1 trs2 tcv tlev tlevc \
    cta ctp tpb tphp tm1 tm2 ttt1 ttt2 tikf vceo icrating gdsnoi nlev bv_max fv_max id_max te_max \
    pd_max iave vpk ipk ptf tbf1 tbf2 tbr1 tbr2 vds qg mu lmin lmax wmin wmax version capmod \
    t_abs noise tcvth texp0 texp1 trb1 trb2 trd1 trd2 trg1 trg2 tksubthres1 tksubthres2 vds_max vgd_max vgdr_max \
    vgs_max vgsr_max idr_max derating rthjc rthca rth_ext vtotc bex cthj rth0 cth0";

/// The vocabulary of a type.
pub(crate) fn vocabulary(kind: Kind) -> Vocabulary {
    match kind {
        Kind::Diode => Vocabulary {
            used: "is n rs cjo cj0 bv vfwd vrev saltus vf ron level",
            smooth: "vj pb m mj fc tt ibv",
            known: "af area cj cjp cjsw cta ctp eg epsilon fcs iave ik ikf ikr ilimit ipk isr js \
                jsw jtun jtunsw keg kf lm lp mfg mjsw nbv nr ns ntun php pj revepsilon \
                revilimit roff rrev rth0 cth0 tcv temp tlev tlevc tm1 tm2 tnom tpb tphp tref \
                trs trs1 trs2 ttt1 ttt2 type vpk vp wm wp xm xti xtitun xom xoi bv_max fv_max \
                id_max te_max pd_max tikf nz cbv isw",
        },
        Kind::VoltageSwitch => Vocabulary {
            used: "vt vh ron roff von voff saltus",
            smooth: "",
            known: "lser vser ilimit level tnom",
        },
        Kind::CurrentSwitch => Vocabulary {
            used: "it ih ron roff ion ioff saltus",
            smooth: "",
            known: "lser vser ilimit level tnom",
        },
        Kind::Mos(_) => Vocabulary {
            used: "level vto vt0 kp lambda is rd rs cgso cgdo cgbo cbd cbs tox uo u0 ld w l \
                saltus vf ron range body n",
            smooth: "gamma phi pb mj fc",
            known: "af cj cjsw delta eta gdsnoi js jssw kappa kf mjsw neff nfs nlev nss nsub rsh \
                theta tnom tpg ucrit uexp utra vmax wd xj xqc capmod lmin lmax wmin wmax xl xw \
                version acm hdif ldif rds rg rb mfg",
        },
        Kind::PowerMos => Vocabulary {
            used: "nchan pchan vto vt0 vth0 kp lambda is n rd rs rg cgs cgdmin cjo cj0 bv saltus \
                vf ron range body",
            smooth: "vj m fc tt ibv",
            known: "a af cgd cgdmax cthj eg kf ksubthres level mfg mtriode mu nbv qg qs rb rds rq \
                rthca rthjc subshift subslope tcvth texp0 texp1 theta tksubthres1 tksubthres2 \
                tnom trb1 trb2 trd1 trd2 trg1 trg2 trs1 trs2 vds vds_max vgd_max vgdr_max \
                vgs_max vgsr_max id_max idr_max pd_max te_max derating vq xti rth_ext vtotc \
                bex l w",
        },
        Kind::Bipolar(_) => Vocabulary {
            used: "is bf br nf rb rc re saltus vf ron level",
            smooth: "vaf va vbf var vb ikf ik ikr ise ne isc nc nr cje vje pe mje me tf cjc vjc pc \
                mjc mc tr cjs ccs csub vjs mjs ps ms fc",
            known: "af c2 c4 cjep cjcp eg gamma ibc ibe irb iss itf kf nk nkf ns pnpn ptf qco \
                quasimod rbm rco subs tlev tlevc tnom tref vg vo vtf xcjc xcjs xtb xtf xti mfg \
                vceo icrating tbf1 tbf2 tbr1 tbr2 cco rbb cn d",
        },
        Kind::OpAmp | Kind::Comparator => {
            Vocabulary { used: "gain low high offset", smooth: "", known: "" }
        }
        Kind::Transformer => Vocabulary { used: "ratio", smooth: "", known: "" },
        Kind::Resistor => Vocabulary {
            used: "r res rsh narrow dw short dlr defw w l tc1 tc1r tc2 tc2r tce tnom",
            smooth: "",
            known: "kf af lf wf ef bv_max t_abs noise",
        },
        Kind::Capacitor => Vocabulary {
            used: "cap c cj cox cjsw capsw narrow del short defw w defl l tc1 tc2 tnom",
            smooth: "",
            known: "di thick bv_max",
        },
    }
}
