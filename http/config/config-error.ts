/** The error for an invalid setting. The message names the setting. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
