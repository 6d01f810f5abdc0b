/* What drives the circuit of examples/buck-converter: its sources, and the offsets with the ramp in them. */
#include <math.h>

typedef unsigned int count;

static const double V_I = 3.0, V_ref = 1.8, settle = 100e-6, L = 10e-6, gain = 1e4, omega = 188495400;
static const double high = 2.25, rise = 1.655e-6, fall = 10e-9, hold = 1e-9, period = 1.6667e-6;
static const double eps = 0.1, V_tn = 2.0, V_tp = -2.0, V_d = 0.8;

static double ramp(double t)
{
    t = fmod(t, period);
    if (t < rise)
        return high * t / rise;
    if (t < rise + hold)
        return high;
    if (t < rise + hold + fall)
        return high * (1 - (t - rise - hold) / fall);
    return 0;
}

void sources(double t, count n, double *b, count nz, double *z)
{
    b[0] = b[2] = b[3] = 0;
    b[1] = -V_d / L;
    b[4] = gain * omega * V_ref * fmin(t / settle, 1);
}

void offsets(double t, count n, double *e, count nz, double *z)
{
    double r = ramp(t);
    e[0] = -eps - r;
    e[1] = eps - r;
    e[2] = -V_I - V_tp;
    e[3] = -V_I - V_tp + 0.5;
    e[4] = V_d - V_tp;
    e[5] = V_d - V_tp + 0.5;
    e[6] = V_tn;
    e[7] = V_tn + 0.5;
    e[8] = V_tn - V_d;
    e[9] = V_tn - V_d + 0.5;
    e[10] = V_I + 2 * V_d;
    e[11] = 0;
}
