/* The arm of examples/two-link-arm: q[0] of the first rod, q[1] of the second relative to it. Matrices by columns. */
#include <math.h>

typedef unsigned int count;

static const double l1 = 0.5, l2 = 0.5, m1 = 1.0, m2 = 1.0, d1 = 0.3, d2 = 0.2, g = 9.81;
#define I1 (m1 * l1 * l1 / 12)
#define I2 (m2 * l2 * l2 / 12)
#define K (m2 * l1 * l2 / 2)

void mass(count n, const double *q, double *M, count nz, double *z)
{
    double c = cos(q[1]);
    M[0] = I1 + I2 + m1 * l1 * l1 / 4 + m2 * (l1 * l1 + l2 * l2 / 4) + 2 * K * c;
    M[1] = M[2] = I2 + m2 * l2 * l2 / 4 + K * c;
    M[3] = I2 + m2 * l2 * l2 / 4;
}

void gyroscopic(count n, const double *q, const double *v, double *F, count nz, double *z)
{
    double s = K * sin(q[1]);
    F[0] = -s * (2 * v[0] * v[1] + v[1] * v[1]);
    F[1] = s * v[0] * v[0];
}

void gyroscopic_dq(count n, const double *q, const double *v, double *J, count nz, double *z)
{
    double c = K * cos(q[1]);
    J[0] = J[1] = 0;
    J[2] = -c * (2 * v[0] * v[1] + v[1] * v[1]);
    J[3] = c * v[0] * v[0];
}

void gyroscopic_dv(count n, const double *q, const double *v, double *J, count nz, double *z)
{
    double s = K * sin(q[1]);
    J[0] = -2 * s * v[1];
    J[1] = 2 * s * v[0];
    J[2] = -2 * s * (v[0] + v[1]);
    J[3] = 0;
}

void internal(double t, count n, const double *q, const double *v, double *F, count nz, double *z)
{
    double both = m2 / 2 * l2 * g * cos(q[0] + q[1]);
    F[0] = (m1 / 2 + m2) * l1 * g * cos(q[0]) + both + d1 * v[0];
    F[1] = both + d2 * v[1];
}

void internal_dq(double t, count n, const double *q, const double *v, double *J, count nz, double *z)
{
    double both = -m2 / 2 * l2 * g * sin(q[0] + q[1]);
    J[0] = -(m1 / 2 + m2) * l1 * g * sin(q[0]) + both;
    J[1] = J[2] = J[3] = both;
}

void internal_dv(double t, count n, const double *q, const double *v, double *J, count nz, double *z)
{
    J[0] = d1;
    J[1] = J[2] = 0;
    J[3] = d2;
}
