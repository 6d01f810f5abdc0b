/* The mechanism of examples/slider-crank: absolute angles of crank, rod and slider, and the gaps of the slider's four
   corners. Matrices by columns. */
#include <math.h>
#include <string.h>

typedef unsigned int count;

static const double l1 = 0.153, l2 = 0.306, a = 0.05, b = 0.025, c = 0.001;
static const double m1 = 0.038, m2 = 0.038, m3 = 0.076, J1 = 7.4e-5, J2 = 5.9e-4, J3 = 2.7e-6, g = 9.81;
#define S ((m2 / 2 + m3) * l1 * l2)

void mass(count n, const double *q, double *M, count nz, double *z)
{
    memset(M, 0, 9 * sizeof *M);
    M[0] = J1 + (m1 / 4 + m2 + m3) * l1 * l1;
    M[1] = M[3] = S * cos(q[1] - q[0]);
    M[4] = J2 + (m2 / 4 + m3) * l2 * l2;
    M[8] = J3;
}

void gyroscopic(count n, const double *q, const double *v, double *F, count nz, double *z)
{
    double s = S * sin(q[0] - q[1]);
    F[0] = s * v[1] * v[1];
    F[1] = -s * v[0] * v[0];
    F[2] = 0;
}

void gyroscopic_dq(count n, const double *q, const double *v, double *J, count nz, double *z)
{
    double k = S * cos(q[0] - q[1]);
    memset(J, 0, 9 * sizeof *J);
    J[0] = k * v[1] * v[1];
    J[1] = -k * v[0] * v[0];
    J[3] = -J[0];
    J[4] = -J[1];
}

void gyroscopic_dv(count n, const double *q, const double *v, double *J, count nz, double *z)
{
    double k = 2 * S * sin(q[0] - q[1]);
    memset(J, 0, 9 * sizeof *J);
    J[1] = -k * v[0];
    J[3] = k * v[1];
}

void internal(double t, count n, const double *q, const double *v, double *F, count nz, double *z)
{
    F[0] = (m1 / 2 + m2 + m3) * g * l1 * cos(q[0]);
    F[1] = (m2 / 2 + m3) * g * l2 * cos(q[1]);
    F[2] = 0;
}

void internal_dq(double t, count n, const double *q, const double *v, double *J, count nz, double *z)
{
    memset(J, 0, 9 * sizeof *J);
    J[0] = -(m1 / 2 + m2 + m3) * g * l1 * sin(q[0]);
    J[4] = -(m2 / 2 + m3) * g * l2 * sin(q[1]);
}

void internal_dv(double t, count n, const double *q, const double *v, double *J, count nz, double *z)
{
    memset(J, 0, 9 * sizeof *J);
}

static void gap(const double *q, double *y, double sx, double sy)
{
    double height = l1 * sin(q[0]) + l2 * sin(q[1]);
    y[0] = b + c - sy * (height + sx * a * sin(q[2])) - b * cos(q[2]);
}

static void gap_dq(const double *q, double *H, double sx, double sy)
{
    H[0] = -sy * l1 * cos(q[0]);
    H[1] = -sy * l2 * cos(q[1]);
    H[2] = -sy * sx * a * cos(q[2]) + b * sin(q[2]);
}

#define CORNER(k, sx, sy)                                                                           \
    void gap##k(count n, const double *q, count ny, double *y, count nz, double *z)                \
    {                                                                                               \
        gap(q, y, sx, sy);                                                                          \
    }                                                                                               \
    void gap##k##_dq(count n, const double *q, count ny, double *H, count nz, double *z)           \
    {                                                                                               \
        gap_dq(q, H, sx, sy);                                                                       \
    }

CORNER(1, -1, 1)
CORNER(2, 1, 1)
CORNER(3, -1, -1)
CORNER(4, 1, -1)
