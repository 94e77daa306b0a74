/**
 * The accepted signature algorithms of tokens; others, for example `none` and HMAC with a shared secret, are rejected
 * (RFC 8725 §3.1).
 */
export const SIGNATURE_ALGORITHMS: readonly string[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Clocks are assumed to differ by less than this. */
const TOLERANCE_S = 60;

/**
 * The OAuth library reads the machine's clock instead of the injected one. A tolerance of a thousand years, in seconds,
 * disables its check; `isInTime` checks the times.
 */
export const NO_CLOCK = 31_536_000_000;

/**
 * Whether a token is valid at a time (RFC 7519 §4.1).
 *
 * @param now milliseconds UTC
 */
export function isInTime({ exp, iat, nbf }: { exp: number; iat: number; nbf?: unknown }, now: number): boolean {
  const at = now / 1000;
  const begun = typeof nbf === 'number' ? nbf : iat;
  return exp > at - TOLERANCE_S && begun <= at + TOLERANCE_S;
}
