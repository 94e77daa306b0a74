/** One comparison of the configuration with what the provider returns. */
export interface Check {
  /** The compared value, usually a key of oauth_config. */
  what: string;
  /** `unknown`: the provider does not publish it, or it differs between accounts. */
  verdict: 'ok' | 'differs' | 'unknown';
  /** Values, or sentences for users. */
  expected: string;
  found: string;
}
