/** One comparison of the configuration with what the provider returns. */
export interface Check {
  /** The compared value, usually a key of oauth_config. */
  what: string;
  /** `unknown`: undecided, for example because the provider does not publish it, or because it differs by account. */
  verdict: 'ok' | 'differs' | 'unknown';
  /** Values, or sentences for users. */
  expected: string;
  found: string;
}
