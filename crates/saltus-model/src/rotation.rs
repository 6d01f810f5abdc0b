//! Rotations as unit quaternions `p = (w, x, y, z)`, and vectors of space.
//!
//! ```text
//! exp(φ) = (cos |φ|/2, sin |φ|/2 φ/|φ|)         the turn by |φ| about φ
//! R(p) a = a + 2 w (u × a) + 2 u × (u × a),     u = (x, y, z)
//! ```
//!
//! `R(p)` leads from the frame of a body to that of the world. Turns in the frame of the body are
//! multiplied from the right: `p⁺ = p exp(φ)`.

/// A vector of space.
pub type Vector = [f64; 3];

/// A unit quaternion, `w` first.
pub type Quaternion = [f64; 4];

/// Three rows of three.
pub type Matrix3 = [[f64; 3]; 3];

/// The rotation that turns nothing.
pub const IDENTITY: Quaternion = [1.0, 0.0, 0.0, 0.0];

/// `a · b`.
#[inline]
pub fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `a × b`.
#[inline]
pub fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `a + b`.
#[inline]
pub fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// `a − b`.
#[inline]
pub fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `s a`.
#[inline]
pub fn scaled(s: f64, a: Vector) -> Vector {
    [s * a[0], s * a[1], s * a[2]]
}

/// `|a|`.
#[inline]
pub fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

/// `a/|a|`; nothing where there is no direction.
pub fn unit(a: Vector) -> Option<Vector> {
    let largest = a.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    let a = scaled(1.0 / largest, a);
    Some(scaled(1.0 / norm(a), a))
}

/// Two unit vectors that make a right-handed frame with the unit vector `n`: `t1 × t2 = n`.
///
/// ```text
/// s = sign n_z,    a = −1/(s + n_z),    b = a n_x n_y
/// t1 = (1 + s a n_x², s b, −s n_x),    t2 = (b, s + a n_y², −n_y)
/// ```
///
/// Reference: Duff et al., *Building an Orthonormal Basis, Revisited*, 2017.
pub fn tangents(n: Vector) -> [Vector; 2] {
    let s = 1.0_f64.copysign(n[2]);
    let a = -1.0 / (s + n[2]);
    let b = a * n[0] * n[1];
    [[1.0 + s * a * n[0] * n[0], s * b, -s * n[0]], [b, s + a * n[1] * n[1], -n[1]]]
}

/// `p r`: first `r`, then `p`.
#[inline]
pub fn product(p: Quaternion, r: Quaternion) -> Quaternion {
    [
        p[0] * r[0] - p[1] * r[1] - p[2] * r[2] - p[3] * r[3],
        p[0] * r[1] + p[1] * r[0] + p[2] * r[3] - p[3] * r[2],
        p[0] * r[2] - p[1] * r[3] + p[2] * r[0] + p[3] * r[1],
        p[0] * r[3] + p[1] * r[2] - p[2] * r[1] + p[3] * r[0],
    ]
}

/// The rotation back.
#[inline]
pub fn conjugate(p: Quaternion) -> Quaternion {
    [p[0], -p[1], -p[2], -p[3]]
}

/// The quaternion of length 1 in this direction; nothing where there is none.
pub fn normalized(p: Quaternion) -> Option<Quaternion> {
    let largest = p.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    if !(largest > 0.0 && p.iter().all(|x| x.is_finite())) {
        return None;
    }
    let p = p.map(|x| x / largest);
    let length = p.iter().map(|x| x * x).sum::<f64>().sqrt();
    Some(p.map(|x| x / length))
}

/// The turn by `|φ|` about `φ`.
#[inline]
pub fn exp(phi: Vector) -> Quaternion {
    let square = dot(phi, phi);
    // sin(x)/x and cos(x) of half the angle, whose squares have no small terms to lose
    let (w, share) = if square < 1e-8 {
        let x = 0.25 * square;
        (1.0 - x / 2.0 * (1.0 - x / 12.0), 0.5 * (1.0 - x / 6.0 * (1.0 - x / 20.0)))
    } else {
        let angle = square.sqrt();
        let (sin, cos) = (0.5 * angle).sin_cos();
        (cos, sin / angle)
    };
    [w, share * phi[0], share * phi[1], share * phi[2]]
}

/// `p exp(φ)`, of length 1 to the last bits. A turn that is smaller than these turns nothing.
#[inline]
pub fn turned(p: Quaternion, phi: Vector) -> Quaternion {
    if phi.iter().all(|x| x.abs() < 0.125 * f64::EPSILON) {
        return p;
    }
    let [w, x, y, z] = product(p, exp(phi));
    let length = (w * w + x * x + y * y + z * z).sqrt();
    [w / length, x / length, y / length, z / length]
}

/// `R(p) a`.
#[inline]
pub fn rotate(p: Quaternion, a: Vector) -> Vector {
    let u = [p[1], p[2], p[3]];
    let c = scaled(2.0, cross(u, a));
    add(a, add(scaled(p[0], c), cross(u, c)))
}

/// `R(p)ᵀ a`.
#[inline]
pub fn rotate_back(p: Quaternion, a: Vector) -> Vector {
    rotate(conjugate(p), a)
}

/// `R(p)`.
#[inline]
pub fn matrix(p: Quaternion) -> Matrix3 {
    let [w, x, y, z] = p;
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// `A a`.
#[inline]
pub fn apply(A: &Matrix3, a: Vector) -> Vector {
    [dot(A[0], a), dot(A[1], a), dot(A[2], a)]
}

/// The matrix of `b ↦ a × b`.
#[inline]
pub fn skew(a: Vector) -> Matrix3 {
    [[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]]
}

/// `A B`.
#[inline]
pub fn multiply(A: &Matrix3, B: &Matrix3) -> Matrix3 {
    let mut C = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            C[i][j] = A[i][0] * B[0][j] + A[i][1] * B[1][j] + A[i][2] * B[2][j];
        }
    }
    C
}

/// The eigenvalues of a symmetric matrix in ascending order, by Jacobi's rotations.
pub fn eigenvalues(mut A: Matrix3) -> Vector {
    for _ in 0..32 {
        let off = A[0][1].abs() + A[0][2].abs() + A[1][2].abs();
        if off == 0.0 {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if A[p][q] == 0.0 {
                continue;
            }
            let slope = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
            let t = 1.0_f64.copysign(slope) / (slope.abs() + slope.hypot(1.0));
            let c = 1.0 / t.hypot(1.0);
            let s = t * c;
            for k in 0..3 {
                let (a, b) = (A[k][p], A[k][q]);
                (A[k][p], A[k][q]) = (c * a - s * b, s * a + c * b);
            }
            for k in 0..3 {
                let (a, b) = (A[p][k], A[q][k]);
                (A[p][k], A[q][k]) = (c * a - s * b, s * a + c * b);
            }
            (A[p][q], A[q][p]) = (0.0, 0.0);
        }
    }
    let mut values = [A[0][0], A[1][1], A[2][2]];
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: Quaternion = [0.5, -0.1, 0.7, 0.5];

    #[test]
    fn matrix_and_quaternion_rotate_alike() {
        let p = normalized(P).unwrap();
        let a = [0.3, -2.0, 1.1];
        for (x, y) in rotate(p, a).into_iter().zip(apply(&matrix(p), a)) {
            assert!((x - y).abs() < 1e-15);
        }
        for (x, y) in rotate_back(p, rotate(p, a)).into_iter().zip(a) {
            assert!((x - y).abs() < 1e-15);
        }
    }

    /// The two forms of the exponential meet, to the last bits; small turns are sin(x)/x, not
    /// tan(x)/x.
    #[test]
    fn exponential_of_small_and_large_turns() {
        for angle in [1e-9, 1e-5, 0.999_999e-4, 1.000_001e-4, 1e-3, 0.1, 3.0, 50.0_f64] {
            let axis = unit([0.2, -0.5, 0.8]).unwrap();
            let p = exp(scaled(angle, axis));
            let (sin, cos) = (0.5 * angle).sin_cos();
            assert!((p[0] - cos).abs() < 2e-16, "{angle}");
            for k in 0..3 {
                assert!((p[k + 1] - sin * axis[k]).abs() <= 4e-16 * sin.abs(), "{angle}");
            }
        }
    }

    #[test]
    fn length_stays_one_over_a_million_turns() {
        let mut p = normalized(P).unwrap();
        for k in 0..1_000_000 {
            let x = f64::from(k);
            p = turned(p, [0.01 * x.sin(), 1e-3, 0.02 * x.cos()]);
        }
        let length = p.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((length - 1.0).abs() < 3e-16, "{length:e}");
    }

    #[test]
    fn tangents_make_a_right_handed_frame() {
        for n in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.3, -0.8, 0.1]] {
            let n = unit(n).unwrap();
            let [a, b] = tangents(n);
            let c = cross(a, b);
            for (value, expected) in [(dot(a, n), 0.0), (dot(a, b), 0.0), (dot(a, a), 1.0)] {
                assert!((value - expected).abs() < 1e-15);
            }
            assert!((0..3).all(|k| (c[k] - n[k]).abs() < 1e-15));
        }
    }

    #[test]
    fn eigenvalues_of_a_turned_diagonal() {
        let R = matrix(normalized(P).unwrap());
        let mut A = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                A[i][j] = (0..3).map(|k| R[i][k] * [1.0, 4.0, 2.5][k] * R[j][k]).sum();
            }
        }
        let values = eigenvalues(A);
        assert!([1.0, 2.5, 4.0].iter().zip(values).all(|(a, b)| (a - b).abs() < 1e-14));
    }
}
