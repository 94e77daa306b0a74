/** One comparison of what is configured with what a provider says. */
export interface Check {
  /** What was compared: mostly a key of oauth_config. */
  what: string;
  /** `unknown`: the provider does not say, or cannot be asked for one account alone. */
  verdict: 'ok' | 'differs' | 'unknown';
  /** Sentences for people, or values. */
  expected: string;
  found: string;
}
