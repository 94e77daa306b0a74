/** A setting that cannot be used. The message names it. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
