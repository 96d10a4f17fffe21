const suffixes: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
}

/** The number that a Kubernetes quantity means (`100m` is 0.1, `1Gi` is 2^30); undefined: it is none, or negative. */
export function parseQuantity(value: unknown): number | undefined {
  const parts = /^\+?(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(String(value))
  if (!parts) return undefined
  const [, digits = '', exponent = '', suffix = ''] = parts
  const number = Number(digits + exponent) * (suffixes[suffix] ?? Number.NaN)
  return Number.isFinite(number) ? number : undefined
}
