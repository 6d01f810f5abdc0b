//! Mechanisms with closed loops, against published figures.

use super::*;

/// Andrews' squeezing mechanism, seven angles and six constraints.
#[test]
fn the_squeezer() {
    let constants = [
        ("m1", 0.04325),
        ("m2", 0.00365),
        ("m3", 0.02373),
        ("m4", 0.00706),
        ("m5", 0.07050),
        ("m6", 0.00706),
        ("m7", 0.05498),
        ("i1", 2.194e-6),
        ("i2", 4.410e-7),
        ("i3", 5.255e-6),
        ("i4", 5.667e-7),
        ("i5", 1.169e-5),
        ("i6", 5.667e-7),
        ("i7", 1.912e-5),
        ("xa", -0.06934),
        ("ya", -0.00227),
        ("xb", -0.03635),
        ("yb", 0.03273),
        ("xc", 0.014),
        ("yc", 0.072),
        ("c0", 4530.0),
        ("lo", 0.07785),
        ("d", 28e-3),
        ("da", 115e-4),
        ("ee", 2e-2),
        ("ea", 1421e-5),
        ("zf", 2e-2),
        ("fa", 1421e-5),
        ("rr", 7e-3),
        ("ra", 92e-5),
        ("ss", 35e-3),
        ("sa", 1874e-5),
        ("sb", 1043e-5),
        ("sc", 18e-3),
        ("sd", 2e-2),
        ("ta", 2308e-5),
        ("tb", 916e-5),
        ("u", 4e-2),
        ("ua", 1228e-5),
        ("ub", 449e-5),
        ("zt", 4e-2),
        ("mom", 0.033),
    ];
    let names = Names { first: ("q", 7), second: ("v", 7), ..Names::TIME };
    let mut mass = vec!["0".to_string(); 49];
    let mut put = |i: usize, j: usize, text: &str| {
        mass[7 * i + j] = text.to_string();
        mass[7 * j + i] = text.to_string();
    };
    put(0, 0, "m1*ra^2 + m2*(rr^2 - 2*da*rr*cos(q[1]) + da^2) + i1 + i2");
    put(0, 1, "m2*(da^2 - da*rr*cos(q[1])) + i2");
    put(1, 1, "m2*da^2 + i2");
    put(2, 2, "m3*(sa^2 + sb^2) + i3");
    put(3, 3, "m4*(ee - ea)^2 + i4");
    put(3, 4, "m4*((ee - ea)^2 + zt*(ee - ea)*sin(q[3])) + i4");
    put(4, 4, "m4*(zt^2 + 2*zt*(ee - ea)*sin(q[3]) + (ee - ea)^2) + m5*(ta^2 + tb^2) + i4 + i5");
    put(5, 5, "m6*(zf - fa)^2 + i6");
    put(5, 6, "m6*((zf - fa)^2 - u*(zf - fa)*sin(q[5])) + i6");
    put(6, 6, "m6*((zf - fa)^2 - 2*u*(zf - fa)*sin(q[5]) + u^2) + m7*(ua^2 + ub^2) + i6 + i7");
    let mass: Vec<&str> = mass.iter().map(String::as_str).collect();
    let mass = Operator::formulas(7, 7, &mass, &names, &constants).unwrap();
    let xd = "(sd*cos(q[2]) + sc*sin(q[2]) + xb)";
    let yd = "(sd*sin(q[2]) - sc*cos(q[2]) + yb)";
    let length = format!("sqrt(({xd} - xc)^2 + ({yd} - yc)^2)");
    let spring = format!("(c0*({length} - lo)/{length})");
    let force = [
        "-(mom - m2*da*rr*v[1]*(v[1] + 2*v[0])*sin(q[1]))".to_string(),
        "-m2*da*rr*v[0]^2*sin(q[1])".to_string(),
        format!(
            "{spring}*(({xd} - xc)*(sc*cos(q[2]) - sd*sin(q[2])) + ({yd} - yc)*(sd*cos(q[2]) + sc*sin(q[2])))"
        ),
        "-m4*zt*(ee - ea)*v[4]^2*cos(q[3])".to_string(),
        "m4*zt*(ee - ea)*v[3]*(v[3] + 2*v[4])*cos(q[3])".to_string(),
        "m6*u*(zf - fa)*v[6]^2*cos(q[5])".to_string(),
        "-m6*u*(zf - fa)*v[5]*(v[5] + 2*v[6])*cos(q[5])".to_string(),
    ];
    let force: Vec<&str> = force.iter().map(String::as_str).collect();
    let force = Operator::formulas(7, 1, &force, &names, &constants).unwrap();
    let q0 = [
        -0.0617138900142764496358948458001,
        0.0,
        0.455279819163070380255912382449,
        0.222668390165885884674473185609,
        0.487364979543842550225598953530,
        -0.222668390165885884674473185609,
        1.23054744454982119249735015568,
    ];
    let mut model = Model::new("squeezer");
    let id = model.add("squeezer", Lagrangian::new(q0, [0.0; 7], mass).F_int(force)).unwrap();
    let h = [
        "rr*cos(q[0]) - d*cos(q[0] + q[1]) - ss*sin(q[2]) - xb",
        "rr*sin(q[0]) - d*sin(q[0] + q[1]) + ss*cos(q[2]) - yb",
        "rr*cos(q[0]) - d*cos(q[0] + q[1]) - ee*sin(q[3] + q[4]) - zt*cos(q[4]) - xa",
        "rr*sin(q[0]) - d*sin(q[0] + q[1]) + ee*cos(q[3] + q[4]) - zt*sin(q[4]) - ya",
        "rr*cos(q[0]) - d*cos(q[0] + q[1]) - zf*cos(q[5] + q[6]) - u*sin(q[6]) - xa",
        "rr*sin(q[0]) - d*sin(q[0] + q[1]) - zf*sin(q[5] + q[6]) + u*cos(q[6]) - ya",
    ];
    let names = Names { first: ("q", 7), second: ("lam", 6), ..Names::TIME };
    let h = Operator::formulas(6, 1, &h, &names, &constants).unwrap();
    model.connect("loops", LagrangianRelation::new(h), Law::Equality, &[id]).unwrap();
    let exact = [
        15.81077119629904,
        -15.75637105984298,
        0.04082224013073101,
        -0.5347301163226948,
        0.5244099658805304,
        0.5347301163226948,
        1.048080741042263,
    ];
    let end = |rtol: f64| -> [f64; 7] {
        let run = driven(model.clone(), rtol, 1e-2 * rtol).run(0.03).unwrap();
        last(&run, "squeezer.q")
    };
    let finest = end(1e-12);
    for (q, exact) in finest.iter().zip(exact) {
        assert!((q / exact - 1.0).abs() < 1e-9, "{q} for {exact}");
    }
    for (rtol, allowed) in [(1e-8, 1e-10), (1e-10, 1e-12), (1e-13, 1e-12)] {
        for (q, finest) in end(rtol).iter().zip(finest) {
            assert!((q / finest - 1.0).abs() < allowed, "{rtol}: {q} for {finest}");
        }
    }
}

/// Three bars that stand side by side and two that lie on top of them, all of 1 m and 1 kg: it passes
/// through positions in which all of them lie in one line, and could go on in several ways.
#[test]
fn the_four_bar_mechanism() {
    // M of a uniform bar between two points: 1/3 of each, 1/6 between them
    let mut M = Matrix::zeros(6, 6);
    let mut F = [0.0; 6];
    for k in 0..3 {
        let ends: &[(Option<usize>, usize)] =
            if k < 2 { &[(None, k), (Some(k), k + 1)] } else { &[(None, k)] };
        for &(from, to) in ends {
            for axis in 0..2 {
                let to = 2 * to + axis;
                M[(to, to)] += 1.0 / 3.0;
                if let Some(from) = from.map(|from| 2 * from + axis) {
                    M[(from, from)] += 1.0 / 3.0;
                    M[(from, to)] += 1.0 / 6.0;
                    M[(to, from)] += 1.0 / 6.0;
                }
            }
            F[2 * to + 1] -= 0.5 * 9.81;
            if let Some(from) = from {
                F[2 * from + 1] -= 0.5 * 9.81;
            }
        }
    }
    let mut model = Model::new("four-bar mechanism");
    let bars =
        LagrangianLinear::new([0.0, 1.0, 1.0, 1.0, 2.0, 1.0], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0], M);
    let id = model.add("bars", bars.F_ext(F)).unwrap();
    let names = Names { first: ("q", 6), second: ("lam", 5), ..Names::TIME };
    let h = [
        "(q[0]^2 + q[1]^2 - 1)/2",
        "((q[2] - 1)^2 + q[3]^2 - 1)/2",
        "((q[4] - 2)^2 + q[5]^2 - 1)/2",
        "((q[2] - q[0])^2 + (q[3] - q[1])^2 - 1)/2",
        "((q[4] - q[2])^2 + (q[5] - q[3])^2 - 1)/2",
    ];
    let h = Operator::formulas(5, 1, &h, &names, &[]).unwrap();
    model.connect("lengths", LagrangianRelation::new(h), Law::Equality, &[id]).unwrap();

    let exact =
        [0.32845811154081538, 0.94451853817860096, 1.42305147020694412, -0.49486884548704296];
    assert!(worst(&four_bar_angle(10.0), &exact) < 1e-11);
    for (rtol, allowed) in [(1e-8, 1e-9), (1e-9, 1e-10), (1e-10, 1e-12), (1e-11, 1e-12)] {
        let run = driven(model.clone(), rtol, 1e-2 * rtol).run(10.0).unwrap();
        let (q, v) = (last::<6>(&run, "bars.q"), last::<6>(&run, "bars.v"));
        let error = worst(&[q[0], q[1], v[0], v[1]], &exact);
        assert!(error < allowed, "{rtol}: {error}");
        // it has stayed the parallelogram that it was
        assert!(worst(&q[2..], &[q[0] + 1.0, q[1], q[0] + 2.0, q[1]]) < 10.0 * allowed);
        let steps = run.stats.steps;
        assert!(steps < 2000, "{steps} steps");
    }
}

/// The same with the one angle that it has, `3 φ̈ = 7/2 g sin φ`: place and velocity of the first
/// corner.
fn four_bar_angle(end: f64) -> [f64; 4] {
    let (mut phi, mut omega, steps) = (0.0_f64, 1.0_f64, 100_000);
    let h = end / steps as f64;
    let turn = |phi: f64| 3.5 / 3.0 * 9.81 * phi.sin();
    for _ in 0..steps {
        let (a, b) = (omega, turn(phi));
        let (c, d) = (omega + 0.5 * h * b, turn(phi + 0.5 * h * a));
        let (e, f) = (omega + 0.5 * h * d, turn(phi + 0.5 * h * c));
        let (g, i) = (omega + h * f, turn(phi + h * e));
        phi += h / 6.0 * (a + 2.0 * c + 2.0 * e + g);
        omega += h / 6.0 * (b + 2.0 * d + 2.0 * f + i);
    }
    [phi.sin(), phi.cos(), omega * phi.cos(), -omega * phi.sin()]
}
